# shellcheck shell=bash
# The emulator on another architecture. Sourced by ./dev.

portable_packages=(g++-aarch64-linux-gnu qemu-user-static)

help_portable() {
  cat <<'TEXT'
usage: ./dev portable

Compiles the emulator and its benchmark for aarch64 with Debian's cross compiler, warnings being errors, and runs
a kernel of the benchmark under qemu. Two to three minutes of one core; leaves build/aarch64.
TEXT
}

command_portable() {
  need_packages "${portable_packages[@]}"
  command -v aarch64-linux-gnu-g++ >/dev/null || unsupported "portable: there is no aarch64-linux-gnu-g++ here"
  local folder=build/aarch64
  local compile=(aarch64-linux-gnu-g++ -std=c++20 -O1 -Wall -Wextra -Werror -fno-strict-aliasing -ffp-contract=off -I. -Isrc)
  local sources=(src/engine/emulator/*.cc benchmarks/emulator_bench.cc benchmarks/host_twins.cc)
  rm -rf "$folder" && mkdir -p "$folder"
  # shellcheck disable=SC2016
  printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} \
    bash -c 'file=$1; shift; "$@" -c "$file" -o "'"$folder"'/$(basename "$file").o"' _ {} "${compile[@]}"
  aarch64-linux-gnu-g++ -static "$folder"/*.o -o "$folder/bench_emulator" -lpthread
  say "${#sources[@]} files compiled for aarch64"
  if ! command -v qemu-aarch64-static >/dev/null; then
    say "not run: there is no qemu-aarch64-static here"
    return 0
  fi
  local said
  said=$(qemu-aarch64-static "$folder/bench_emulator" half_axpy portable 1)
  grep -q 'half_axpy .* thread instructions' <<<"$said" || die "portable: the benchmark ended with: $said"
  say "run under qemu: $(grep half_axpy <<<"$said" | tail -1)"
}
