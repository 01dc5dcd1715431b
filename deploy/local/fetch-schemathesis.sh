#!/usr/bin/env bash
# Installs Schemathesis, which makes requests from an OpenAPI document, into .cache/schemathesis: tests and `make verify-api` use it.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$root/.cache/schemathesis
package=schemathesis==4.32.5
[ "$(cat "$folder/installed" 2>/dev/null || true)" != "$package" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"
echo "schemathesis: fetching 68 MB (half a minute on a usual line) …"
python3 -m pip install --quiet --disable-pip-version-check --no-input --no-warn-conflicts --root-user-action=ignore --target "$folder" "$package"
echo "$package" >"$folder/installed"
