#!/usr/bin/env bash
# Writes the pictures of README.md, docs/images/{inbox,styles}.webp: tells the demo on the running stack ('make up'), then opens the phone
# page and the contact sheet in Chromium. Installs Chromium if it is missing. `make screenshots` starts the stack first.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
run=${HELIOGRAPH_RUN:-"$root/.run"}
images=$root/docs/images
max_bytes=300000   # of all pictures: every clone and every reader loads them

fail() { printf 'screenshots: %s\n' "$*" >&2; exit 1; }
[ -s "$run/stack.env" ] || fail "nothing runs here (no $run/stack.env): run 'make up'"

if ! dpkg-query -s chromium fonts-noto-color-emoji >/dev/null 2>&1; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    echo "screenshots: installing chromium and fonts-noto-color-emoji (about 400 MB) …"
    "${as_root[@]}" apt-get update -q >/dev/null
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        chromium fonts-noto-color-emoji >/dev/null || fail "apt-get cannot install chromium"
fi

"$root/deploy/local/demo.sh" >"$run/logs/demo.log" || fail "the demo has failed: $run/logs/demo.log"
mkdir -p "$images"
python3 "$root/deploy/local/screenshots.py" "$run" "$images"
bytes=$(cat "$images"/* | wc -c)
[ "$bytes" -le $max_bytes ] || fail "the pictures have $bytes bytes, and may have $max_bytes: lower their quality in screenshots.py"
ls -l "$images"
