# shellcheck shell=bash
# What building needs, and how it gets here. Sourced by ./dev. Each need_* checks first and is cheap
# when nothing is missing; there are no stamp files: the thing itself is looked at.

build_packages=(ca-certificates catch2 cmake g++ libboost-dev libcli11-dev libexpat1-dev libfmt-dev libseccomp-dev libspdlog-dev
  libsqlite3-dev libssl-dev libyaml-cpp-dev ninja-build nlohmann-json3-dev python3 zlib1g-dev)
lint_packages=(shellcheck pyflakes3)

help_needs() {
  cat <<'TEXT'
usage: ./dev needs

Installs what is missing for building: Debian packages, simdjson's source (.deps/simdjson) and, unless
a complete CUDA toolkit with NVRTC is here already, NVIDIA's compiler wheels (.deps/cuda, 160 MB).
A toolkit is looked for in $CUDA_HOME, /usr/local/cuda*, and the wheels of the active Python.
The choice is recorded in .deps/toolkit.env.
TEXT
}

command_needs() {
  need_everything
  say "nothing is missing; CUDA compiler: $(sed -n 's/^ASSAY_CUDA_LIB=//p' .deps/toolkit.env)"
}

need_everything() {
  need_packages "${build_packages[@]}"
  need_simdjson
  need_toolkit
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "neither root nor sudo here; run this as root, then again: $*"
  fi
}

missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/ installed$//p' || true)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$installed" | sort -u)
}

need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    # Not a Debian: what is there is taken, and CMake names what is not.
    if ! command -v cmake >/dev/null || ! command -v ninja >/dev/null; then
      die "this is no Debian or Ubuntu; install what these packages hold, then again: $*"
    fi
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing Debian packages: ${missing[*]}"
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends
    "${missing[@]}")
  # The package lists of a fresh machine are empty or old: only then are they fetched.
  as_root "${install[@]}" </dev/null >/dev/null 2>&1 && return 0
  as_root apt-get update -q </dev/null >/dev/null
  as_root "${install[@]}" </dev/null >/dev/null || die "apt-get could not install: ${missing[*]}"
}

# Sets pip_python to an interpreter that has pip; downloads only, so PEP 668 does not stand in the way.
find_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      pip_python=$python
      return 0
    fi
  done
  need_packages python3-pip
  pip_python=/usr/bin/python3
}

simdjson_is_here() {
  (cd .deps/simdjson 2>/dev/null && sha256sum --check --quiet --status "$root/dev.d/simdjson.sha256")
}

need_simdjson() {
  simdjson_is_here && return 0
  find_pip
  say "fetching simdjson's source (in PyPI's pysimdjson) into .deps/simdjson"
  "$pip_python" dev.d/simdjson.py .deps/simdjson
  simdjson_is_here || die "the simdjson that was fetched is not the one in dev.d/simdjson.sha256"
}

need_toolkit() {
  local answer=0
  python3 dev.d/toolkit.py find || answer=$?
  [ "$answer" -ne 0 ] || return 0
  [ "$answer" -eq 3 ] || die "looking for the CUDA compiler failed"
  find_pip
  say "fetching NVIDIA's compiler wheels (NVRTC and headers) into .deps/cuda"
  "$pip_python" dev.d/toolkit.py install
}

# Whether the environment below is there, or is to be had with the CPU build of torch. pip is asked what it
# would install and fetches nothing for it; why_no_small_python says why not.
has_small_python() {
  local version
  [ -z "${ASSAY_PYTHON:-}" ] && ! has_python_environment || return 0
  find_pip
  version=$("$pip_python" -m pip install --dry-run --quiet --disable-pip-version-check --no-deps --ignore-installed \
    --report - "$(grep '^torch==' dev.d/python.txt)" </dev/null 2>/dev/null |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["install"][0]["metadata"]["version"])' 2>/dev/null) || version=none
  why_no_small_python="no CPU build of torch is offered here (pip would take: $version)"
  case "$version" in *+cpu) return 0 ;; *) return 1 ;; esac
}

has_python_environment() {
  .deps/python/bin/python -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("torch") and u.find_spec("triton")))' \
    2>/dev/null
}

# torch and triton for the tests of kernels in Python. torch 2.13.0 is also satisfied by a CPU build of it
# (2.13.0+cpu), which is taken where the environment offers one; otherwise PyPI's, with CUDA, is fetched.
need_python_environment() {
  local python=.deps/python/bin/python
  ! has_python_environment || return 0
  say "installing torch, triton and numpy into .deps/python (2 GB with the CPU build of torch, 7 GB without)"
  need_packages python3-venv
  rm -rf .deps/python
  python3 -m venv .deps/python
  "$python" -m pip install --quiet --disable-pip-version-check -r dev.d/python.txt </dev/null ||
    die "pip could not install torch; the tests of kernels in Python need it"
}

# clang-format's taste changes with its version: 14 decides, from the distribution or from PyPI's wheel.
# clang-tidy looks past what it finds in system headers since 21, in a third of the time: PyPI's wheel, and
# where that cannot be had the distribution's.
need_lint_tools() {
  need_packages "${lint_packages[@]}"
  if command -v clang-format-14 >/dev/null; then
    CLANG_FORMAT=clang-format-14
  elif clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    CLANG_FORMAT=clang-format
  else
    need_tool_wheel clang-format 14.0.6
    CLANG_FORMAT=$tool_wheel
  fi
  if need_tool_wheel clang-tidy 23.1.4; then
    CLANG_TIDY=$tool_wheel
  else
    need_packages clang-tidy
    CLANG_TIDY=clang-tidy
  fi
  export CLANG_FORMAT CLANG_TIDY
}

# NAME VERSION: the program of that name out of its wheel; $tool_wheel is where it lies then.
need_tool_wheel() {
  local folder=.deps/$1-${2%%.*} package=${1//-/_}
  tool_wheel=$root/$folder/$package/data/bin/$1
  [ ! -x "$tool_wheel" ] || return 0
  find_pip
  say "fetching $1 $2 (a PyPI wheel) into $folder"
  rm -rf "$folder.new"
  "$pip_python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -d "$folder.new" "$1==$2" </dev/null || return
  (cd "$folder.new" && python3 -m zipfile -e ./*.whl . && rm ./*.whl) || return
  chmod +x "$folder.new/$package/data/bin/$1" || return
  mv "$folder.new" "$folder"
}

# NVIDIA's disassemblers for the tests of what is read out of machine code: two wheels, 5 MB. Without them
# those tests are skipped, and say so.
need_disassemblers() {
  local folder=.deps/disassembler
  [ ! -x "$folder/nvidia/cu13/bin/nvdisasm" ] || return 0
  ! command -v nvdisasm >/dev/null || return 0
  find_pip
  say "fetching nvdisasm and cuobjdump (PyPI wheels, 5 MB) into $folder"
  rm -rf "$folder.new"
  "$pip_python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -d "$folder.new" 'nvidia-cuda-nvdisasm>=13,<14' 'nvidia-cuda-cuobjdump>=13,<14' </dev/null || return
  (cd "$folder.new" && for wheel in *.whl; do python3 -m zipfile -e "$wheel" .; done && rm ./*.whl) || return
  chmod +x "$folder.new"/nvidia/cu13/bin/* || return
  rm -rf "$folder"
  mv "$folder.new" "$folder"
}

# The fuzzers need clang and its runtime, which Debian packs apart and names by version.
need_clang() {
  local major
  need_packages clang
  major=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p;q')
  need_packages "libclang-rt-$major-dev"
}
