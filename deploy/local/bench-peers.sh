#!/usr/bin/env bash
# Installs what `make bench` measures beside ours; nothing else uses it: Python's peers in .cache/bench-peers, and with `faces` dlib and
# OpenBLAS with their models.
#
#   bench-peers.sh [faces]
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)

if [ "${1-}" = faces ]; then
    debian=(libblas-dev libdlib-dev liblapack-dev libopenblas0-pthread)
    if ! dpkg-query -W -f '${db:Status-Status}\n' "${debian[@]}" 2>/dev/null | grep -c '^installed$' | grep -qx "${#debian[@]}"; then
        echo "bench: installing dlib and OpenBLAS, to measure them beside ours …"
        as_root=()
        [ "$(id -u)" -eq 0 ] || as_root=(sudo)
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${debian[@]}" >&2
    fi
    exec "$root/deploy/local/fetch-models.sh" --sources "$root/.cache/bench-models"
fi

folder=$root/.cache/bench-peers
packages=(celery==5.7.0 redis==8.1.0 packaging taskiq==0.13.0 taskiq-redis==1.2.4 firebase-admin==7.5.0)
[ "$(cat "$folder/installed" 2>/dev/null || true)" != "${packages[*]}" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"
echo "bench: fetching Celery, taskiq-redis and firebase-admin, to measure them beside ours …"
python3 -m pip install --quiet --disable-pip-version-check --no-input --no-warn-conflicts --root-user-action=ignore --target "$folder" "${packages[@]}"
echo "${packages[*]}" >"$folder/installed"
