#!/bin/bash
# Clones the fork into the workspace and compiles it, once. Asks nothing: the fork's owner is
# $XFORMERS_USERNAME, or the default.
set -euo pipefail

fork=https://github.com/${XFORMERS_USERNAME:-alexchesser}/xformers.git
place=$PWD/xformers

git clone --recurse-submodules "$fork" "$place"
git config --global --add safe.directory "$place"
# shellcheck disable=SC2016  # git gives the shell of each submodule its own $sm_path
git -C "$place" submodule foreach --recursive 'git config --global --add safe.directory "$toplevel/$sm_path" || true'

python3 -m pip install --no-cache-dir pre-commit
FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=${TORCH_CUDA_ARCH_LIST:-12.0} \
  python3 -m pip install --no-cache-dir --no-build-isolation --no-deps -e "$place"
(cd "$place" && pre-commit install)
