# shellcheck shell=bash
# The tests. Sourced by ./dev.

help_test() {
  cat <<TEXT
usage: ./dev test [--preset PRESET] [--update] [--clients] [--python[=cpu]] [--containers] [FILTER]

Builds, then runs the tests whose name matches FILTER (a regular expression; all without one).
  --preset PRESET  one of: ${presets[*]} (dev)
  --update         rewrite the golden transcripts instead of comparing with them, then show the change
  --clients        also: real MCP clients, Chromium  (tests/clients/run; fetches packages)
  --python         also: torch, triton and so on     (tests/python/run; fetches packages)
  --python=cpu     likewise, unless 7 GB would be fetched: where a CPU build of torch is offered
  --containers     also: container engines           (tests/containers/run)
TEXT
}

command_test() {
  local preset=dev filter='' update='' suites=()
  while [ $# -gt 0 ]; do
    case "$1" in
      --preset) [ $# -gt 1 ] || die "--preset needs a name"; preset=$2; shift ;;
      --preset=*) preset=${1#*=} ;;
      --update) update=yes ;;
      --python=cpu) if has_small_python; then suites+=(python); else say "--python=cpu: $why_no_small_python"; fi ;;
      --clients|--python|--containers) suites+=("${1#--}") ;;
      -*) help_test >&2; die "there is no option '$1'" ;;
      *) filter=$1 ;;
    esac
    shift
  done
  # The page is tested in a real browser; asked for, it is not skipped.
  case " ${suites[*]-} " in
    *" clients "*)
      (need_packages chromium) || unsupported "--clients: Chromium is not to be had here"
      export ASSAY_CLIENTS=1
      ;;
  esac
  require_preset "$preset"
  local suite
  for suite in ${suites[@]+"${suites[@]}"}; do
    [ -x "tests/$suite/run" ] || unsupported "--$suite: tests/$suite/run does not exist"
  done
  need_everything
  need_disassemblers || say "not run: what a real disassembler is needed for (its wheels cannot be fetched here)"
  case " ${suites[*]-} " in *" python "*) [ -n "${ASSAY_PYTHON:-}" ] || need_python_environment ;; esac
  build_preset "$preset"
  if [ -n "$update" ]; then
    update_transcripts "$preset"
    return
  fi
  say_what_cannot_run ${suites[@]+"${suites[@]}"}
  run_tests "$preset" "$filter" ${suites[@]+"${suites[@]}"}
}

# The replayer that the build makes rewrites what tests/transcripts expects: protocol against its own tools,
# server (if there is such a folder) against the real server.
update_transcripts() {
  local folder=build/$1 program
  program=$(find "$folder" -name transcripts -type f -perm -u+x -print -quit)
  [ -n "$program" ] || unsupported "--update: the build makes no program 'transcripts'"
  "$program" --update tests/transcripts/protocol/*
  if [ -d tests/transcripts/server ]; then
    "$program" --update tests/transcripts/server/* -- "$folder/bin/assay" serve --stdio
  fi
  git --no-pager diff --stat -- tests/transcripts || true
}

has_gpu() { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; }

say_what_cannot_run() {
  local suite
  has_gpu || say "not run: tests that need a GPU (there is no /dev/nvidiactl here)"
  for suite in clients python containers; do
    case " $* " in
      *" $suite "*) ;;
      *) say "not run: tests/$suite (ask with --$suite)" ;;
    esac
  done
}

# Foreign suites first, so that the last line counts everything. One that exits with 2 cannot be run here and
# has said why: then so does this, unless something failed.
run_tests() {
  local preset=$1 filter=$2 passed=0 failed=0 absent='' suite log status=0 more total code
  shift 2
  for suite in "$@"; do
    say "tests/$suite/run"
    code=0
    "tests/$suite/run" "build/$preset" || code=$?
    case $code in
      0) passed=$((passed + 1)) ;;
      2) absent+=" tests/$suite" ;;
      *) failed=$((failed + 1)) ;;
    esac
  done
  # One more than there are cores, as many tests wait for something most of their time.
  local arguments=(--test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(($(nproc) + 1))")
  [ -z "$filter" ] || arguments+=(-R "$filter")
  has_gpu || arguments+=(-LE '^gpu$')
  log=build/$preset/ctest.log
  ctest "${arguments[@]}" 2>&1 | tee "$log" || status=$?
  [ $# -gt 0 ] || return "$status"
  read -r more total < <(sed -n 's/.* \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$log") || true
  failed=$((failed + ${more:-1}))
  passed=$((passed + ${total:-0} - ${more:-0}))
  say "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] || return 1
  [ -z "$absent" ] || unsupported "not run here:$absent"
}
