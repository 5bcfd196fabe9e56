# shellcheck shell=bash
# The commands that run what was built. Sourced by ./dev.

help_demo() {
  cat <<'TEXT'
usage: ./dev demo [ARGUMENT…]

Builds release, then examples/demo.py starts `assay serve --stdio` and shows what an agent would see:
a real kernel compiled, proved right and timed, on a GPU if there is one, else on the emulator.
TEXT
}

command_demo() {
  need_everything
  build_preset release "${product[@]}"
  [ -f examples/demo.py ] || unsupported "demo: examples/demo.py does not exist"
  [ -x build/release/bin/assay ] || unsupported "demo: the build makes no build/release/bin/assay"
  python3 examples/demo.py build/release/bin/assay "$@"
}

help_bench() {
  cat <<'TEXT'
usage: ./dev bench [FILTER]

Builds release, then runs every build/release/bin/bench_* whose name contains FILTER, one at a time.
TEXT
}

command_bench() {
  local filter=${1:-} program ran=0 failed=0
  need_everything
  build_preset release
  for program in build/release/bin/bench_*; do
    if [ ! -x "$program" ] || [[ $program != *"$filter"* ]]; then continue; fi
    say "$program"
    ran=$((ran + 1))
    "$program" || failed=$((failed + 1))
  done
  [ "$ran" -gt 0 ] || unsupported "bench: the build makes no build/release/bin/bench_*$filter*"
  say "$((ran - failed)) passed, $failed failed"
  [ "$failed" -eq 0 ]
}

help_conformance() {
  cat <<'TEXT'
usage: ./dev conformance [SCENARIO…]

Builds release, then runs the official MCP conformance suite against the server (tests/conformance/run):
every scored scenario of both revisions, or only those that are named. Fetches the suite with npm.
TEXT
}

command_conformance() {
  [ -x tests/conformance/run ] || unsupported "conformance: tests/conformance/run does not exist"
  need_everything
  build_preset release "${product[@]}"
  tests/conformance/run build/release "$@"
}

help_gpu_bundle() {
  cat <<'TEXT'
usage: ./dev gpu-bundle [FOLDER]

Builds release, then makes FOLDER (build/gpu-bundle): under 60 MiB, it runs the GPU tests and benchmarks
on a machine that has only a driver, CUDA and Python, and a glibc as new as this one's, or 2.35 (tests/gpu/bundle):
FOLDER/run there, a table last.
TEXT
}

command_gpu_bundle() {
  [ -x tests/gpu/bundle ] || unsupported "gpu-bundle: tests/gpu/bundle does not exist"
  need_everything
  build_preset release
  tests/gpu/bundle build/release "${1:-build/gpu-bundle}"
}

help_defences() {
  cat <<'TEXT'
usage: ./dev defences [--list] [--only NAME…] [--torch PYTHON] [--gpu [FOLDER]]

Builds release, then a copy of it (build/defences) in which each defence that docs/trust.md names can be taken away
while the programs run (tests/defences): every test of the table passes with all of them, and has to fail without its
own. --gpu makes FOLDER (build/defences/gpu-bundle) for those that need a GPU: FOLDER/run defences there.
TEXT
}

command_defences() {
  [ -x tests/defences/run ] || unsupported "defences: tests/defences/run does not exist"
  case " $* " in
    *" --list "*) ;;
    *)
      need_everything
      configure_preset release
      ;;
  esac
  tests/defences/run "$@"
}

help_package() {
  cat <<'TEXT'
usage: ./dev package [--without-cuda] [FOLDER]

Builds release, then makes FOLDER/assay-VERSION-linux-ARCH.tar.gz (FOLDER: build): programs, documentation, the
Python client and the CUDA compiler library with its headers (NVIDIA's, under NVIDIA's licence, which is in it;
--without-cuda leaves them out). Unpacked anywhere, bin/assay works.
TEXT
}

command_package() {
  local option=''
  if [ "${1:-}" = --without-cuda ]; then
    option=$1
    shift
  fi
  need_everything
  build_preset release "${product[@]}"
  say "$(dev.d/package build/release "${1:-build}" "$option")"
}

help_fuzz() {
  cat <<'TEXT'
usage: ./dev fuzz [SECONDS] [FILTER]

Builds tests/fuzz/*_fuzz.cc with clang's libFuzzer (address and undefined behaviour), then runs each whose
name contains FILTER for SECONDS (20), beginning with the inputs in tests/fuzz/NAME_corpus. A crashing
input is kept in build/fuzz/crashes.
TEXT
}

command_fuzz() {
  local seconds=${1:-20} filter=${2:-} program name ran=0 failed=0
  compgen -G 'tests/fuzz/*_fuzz.cc' >/dev/null || unsupported "fuzz: there is no tests/fuzz/*_fuzz.cc"
  need_everything
  need_clang
  build_preset fuzz fuzzers
  mkdir -p build/fuzz/crashes
  for program in build/fuzz/bin/*_fuzz; do
    name=$(basename "$program" _fuzz)
    [[ $name == *"$filter"* ]] || continue
    ran=$((ran + 1))
    fuzz_one "$program" "$name" "$seconds" || failed=$((failed + 1))
  done
  say "$((ran - failed)) passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# New inputs go to the build folder; the corpus in the repository is only read.
fuzz_one() {
  local program=$1 name=$2 seconds=$3 found=build/fuzz/corpus/$2 seeds=()
  mkdir -p "$found"
  [ ! -d "tests/fuzz/${name}_corpus" ] || seeds=("tests/fuzz/${name}_corpus")
  say "$name: $seconds s"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/crashes/$name-" "$found" ${seeds[@]+"${seeds[@]}"} \
    </dev/null >"build/fuzz/$name.log" 2>&1 && { grep -E '^stat::number_of_executed_units' \
    "build/fuzz/$name.log" || true; } && return 0
  tail -n 60 "build/fuzz/$name.log"
  return 1
}

help_lint() {
  cat <<'TEXT'
usage: ./dev lint [--fix] [--fast] [--within SECONDS] [FILE…]

Formatting (clang-format), clang-tidy over every source file, shellcheck, pyflakes, and words that do
not belong in the repository. A file is looked at again only if it, a header of ours that it includes, or
.clang-tidy changed (build/lint). --fix formats the files instead of complaining;
--fast leaves out what compiles (clang-tidy, headers alone), which takes most of the time;
--within SECONDS begins those only as long as there is time, with what changed last, and counts what was left.
TEXT
}

command_lint() {
  need_everything
  need_lint_tools
  configure_preset dev
  python3 dev.d/lint.py "$@"
}
