#!/usr/bin/env bash
# Installs what is missing to build and run Heliograph on Debian 12: packages, face models, demo photos.
# Running it again when everything is there takes a second and changes nothing.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

command -v swift >/dev/null || fail "no Swift toolchain found: install Swift 6.3 (swift.org/install) and put its bin folder on PATH"
command -v dpkg-query >/dev/null || fail "this script knows Debian's packages only; deploy/local/packages.txt lists what to install"

missing=()
while read -r package; do
    case $package in '' | '#'*) continue ;; esac
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done <"$root/deploy/local/packages.txt"

install_packages() {
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "run as root or install sudo: these packages are missing: ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing ${#missing[@]} Debian packages (a few minutes on a new machine): ${missing[*]}"
    # Neither a Redis nor a Postgres of the machine is started or created: ours live under .run/ only.
    "${as_root[@]}" sh -eu -s -- "${missing[@]}" <<'ROOT'
policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.d/heliograph-setup.conf
made_policy=
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' > $policy
    chmod 0755 $policy
    made_policy=yes
fi
mkdir -p "$(dirname $cluster)"
echo 'create_main_cluster = false' > $cluster
undo() { rm -f $cluster; if [ -n "$made_policy" ]; then rm -f $policy; fi; }
trap undo EXIT
apt-get update -q >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/tmp/heliograph-apt.log 2>&1 || {
    tail -n 20 /tmp/heliograph-apt.log >&2
    exit 1
}
rm -f /tmp/heliograph-apt.log
ROOT
}

if [ ${#missing[@]} -gt 0 ]; then install_packages; fi
"$root/deploy/local/fetch-models.sh"
"$root/deploy/local/fetch-photos.sh"
