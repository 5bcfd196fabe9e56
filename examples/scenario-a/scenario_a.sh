#!/bin/bash
# Scenario A: a new developer, a fresh machine, no caches, one compile. Works in a folder of its own
# beside the repository, removes the images that it lists and no others, echoes every command with its
# time, and writes one log: benchmarks/<YYYYMMDD_HHMMSS>_scenario_a.log.
#   scenario_a.sh REPOSITORY [IMAGE_TO_REMOVE…]
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: scenario_a.sh REPOSITORY [IMAGE_TO_REMOVE...]" >&2; exit 2; }
repository=$(readlink -f "$1")
shift
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
folder=${SCENARIO_FOLDER:-$repository-scenario-a}
[ ! -e "$folder" ] || { echo "scenario_a.sh: $folder exists already; nothing is deleted" >&2; exit 2; }

mkdir -p "$here/benchmarks"
log=$here/benchmarks/$(date +%Y%m%d_%H%M%S)_scenario_a.log
exec > >(tee "$log") 2>&1

timed() {
  echo "(time $*)"
  time "$@"
}

start=$SECONDS
finish() {
  echo "End: $(date)"
  echo "Total elapsed seconds: $((SECONDS - start))"
}
trap finish EXIT

echo "--- Scenario Runner ---"
echo "Scenario: A"
echo "Log file: $log"
echo "Start: $(date)"

timed git clone --quiet --no-hardlinks "$repository" "$folder"
mkdir -p "$folder/.devcontainer"
cp "$here/.devcontainer/Dockerfile.scenario-a" "$here/.devcontainer/post-create-scenario-a.sh" "$folder/.devcontainer/"
edited=$here/.devcontainer/devcontainer.json
[ ! -e "$folder/.devcontainer/devcontainer.json" ] || edited=$folder/.devcontainer/devcontainer.json
timed python3 "$here/edit_devcontainer.py" "$edited" "$folder/.devcontainer/devcontainer.json"

for image in "$@"; do
  timed docker image rm -f "$image" || true
done

cd "$folder"
timed devcontainer up --workspace-folder . --log-level trace --remove-existing-container --build-no-cache </dev/null
timed devcontainer exec --workspace-folder . python3 attention_test.py </dev/null
