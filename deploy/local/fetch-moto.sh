#!/usr/bin/env bash
# Installs moto, an S3 server that checks signatures, into .cache/moto: the tests of the blob store run against it.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$root/.cache/moto
packages=("moto[s3]==5.2.5" flask==3.1.3 flask-cors==6.0.5)
[ "$(cat "$folder/installed" 2>/dev/null || true)" != "${packages[*]}" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"
echo "moto: fetching 114 MB (half a minute on a usual line) …"
python3 -m pip install --quiet --disable-pip-version-check --no-input --no-warn-conflicts --root-user-action=ignore --target "$folder" "${packages[@]}"
echo "${packages[*]}" >"$folder/installed"
