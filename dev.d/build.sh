# shellcheck shell=bash
# Configure and compile. Sourced by ./dev.

presets=(dev release asan tsan fuzz)
product=(assay assay-runner)

help_build() {
  cat <<TEXT
usage: ./dev build [PRESET] [TARGET…]

PRESET: ${presets[*]} (dev unless told otherwise). The result is in build/PRESET/bin. Without a
TARGET the program and its runner are built; \`all\` builds the tests and benchmarks too.
dev: -O1 with assertions. release: -O2. asan: address and undefined behaviour. tsan: threads.
TEXT
}

command_build() {
  local preset=dev
  if [ $# -gt 0 ]; then
    preset=$1
    shift
  fi
  need_everything
  [ $# -gt 0 ] || set -- "${product[@]}"
  build_preset "$preset" "$@"
}

require_preset() {
  local known
  for known in "${presets[@]}"; do
    [ "$known" != "$1" ] || return 0
  done
  die "there is no preset '$1'; there are: ${presets[*]}"
}

# As many as there are cores, but at least 1.5 GiB of memory for each compiler.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1572864)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# CMakeLists.txt files and new sources are ninja's business; it does not know the presets.
configure_preset() {
  local folder=build/$1
  if [ ! -e "$folder/build.ninja" ] || [ CMakePresets.json -nt "$folder/build.ninja" ] ||
    [ .deps/toolkit.env -nt "$folder/build.ninja" ]; then
    mkdir -p "$folder"
    cmake --preset "$1" >"$folder/configure.log" 2>&1 || {
      cat "$folder/configure.log" >&2
      die "configuring $1 failed"
    }
  fi
}

build_preset() {
  local preset=$1
  shift
  require_preset "$preset"
  configure_preset "$preset"
  ninja -C "build/$preset" -j "$(build_jobs)" "$@"
}
