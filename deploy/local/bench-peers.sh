#!/usr/bin/env bash
# Installs the Python peers that `make bench` measures beside ours into .cache/bench-peers; nothing else uses them.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$root/.cache/bench-peers
packages=(celery==5.7.0 redis==8.1.0 packaging taskiq==0.13.0 taskiq-redis==1.2.4 firebase-admin==7.5.0)
[ "$(cat "$folder/installed" 2>/dev/null || true)" != "${packages[*]}" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"
echo "bench: fetching Celery, taskiq-redis and firebase-admin, to measure them beside ours …"
python3 -m pip install --quiet --disable-pip-version-check --no-input --no-warn-conflicts --root-user-action=ignore --target "$folder" "${packages[@]}"
echo "${packages[*]}" >"$folder/installed"
