#!/usr/bin/env bash
# Starts a Docker Engine of its own in .cache/verify/docker, with stand-ins for the images that a registry would give:
# docker-up.sh [compile], which is also for the one that the services are compiled in.
# Prints nothing but progress; .cache/verify/docker/docker.env then leads to it. With DOCKER_HOST set, that engine is used as it is.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
tools=$root/.cache/verify
home=$tools/docker
mirror=$(sed -n 's/^deb .* \(\S*\) trixie main$/\1/p' "$tools/apt/sources.list")

fail() { printf 'verify: %s\n' "$*" >&2; exit 1; }
# Not a fault of what is verified: this machine runs no containers.
cannot() { printf '%s\n' "$*" >&2; exit 75; }

mkdir -p "$home/config"
printf '{"cliPluginsExtraDirs": ["%s/root/usr/libexec/docker/cli-plugins"]}\n' "$tools" >"$home/config/config.json"
cat >"$home/docker.env" <<ENV
export PATH=$tools/root/usr/bin:$tools/root/usr/sbin:/usr/sbin:/sbin:$PATH
export DOCKER_CONFIG=$home/config
export DOCKER_HOST=${DOCKER_HOST:-unix://$home/docker.sock}
ENV
given=${DOCKER_HOST:-}
# shellcheck disable=SC1091
. "$home/docker.env"
[ -z "$given" ] || { docker version >/dev/null || fail "the engine at $given does not answer"; exit 0; }
[ "$(id -u)" = 0 ] || cannot "a Docker Engine of its own needs root; or set DOCKER_HOST"
# Two engines would share a bridge and the chains of the firewall, and the end of ours would be the end of its network.
for socket in /var/run/docker.sock /run/docker.sock; do
    if docker -H "unix://$socket" version >/dev/null 2>&1; then cannot "a Docker Engine runs here already: use it with DOCKER_HOST=unix://$socket"; fi
done

missing=()
for package in runc iptables mmdebstrap iproute2; do dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package"); done
if [ ${#missing[@]} -gt 0 ]; then
    printf '==> installing %s\n' "${missing[*]}"
    apt-get update -q >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
fi

if ! docker version >/dev/null 2>&1; then
    # An address range of its own; a limit of files that every machine gives.
    setsid dockerd --data-root "$home/data" --exec-root "$home/exec" --pidfile "$home/docker.pid" -H "$DOCKER_HOST" \
        --default-ulimit nofile=16384:16384 --userland-proxy-path "$tools/root/usr/sbin/docker-proxy" \
        --bip 172.31.0.1/24 --default-address-pool base=172.30.0.0/16,size=24 >"$home/dockerd.log" 2>&1 </dev/null &
    for ((i = 0; ; i++)); do
        docker version >/dev/null 2>&1 && break
        [ $i -lt 120 ] || { tail -n 5 "$home/dockerd.log" >&2; cannot "the Docker Engine does not start; its log is $home/dockerd.log"; }
        sleep 0.25
    done
fi

have() { docker image inspect "$1" >/dev/null 2>&1; }

if ! have debian:bookworm-slim; then
    printf '==> making debian:bookworm-slim\n'
    mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$home/debian.tar" \
        "deb $mirror bookworm main" "deb $mirror bookworm-updates main" >/dev/null
    docker import --change 'CMD ["bash"]' "$home/debian.tar" debian:bookworm-slim >/dev/null
    rm -f "$home/debian.tar"
    # Whom this machine trusts, the image trusts too: a proxy on the way may have an authority of its own.
    mkdir -p "$home/base"
    cp /etc/ssl/certs/ca-certificates.crt "$home/base/"
    printf 'FROM debian:bookworm-slim\nCOPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt\n' >"$home/base/Dockerfile"
    docker buildx build -q --load -t debian:bookworm-slim "$home/base" >/dev/null
fi
standin() { # standin IMAGE FOLDER [ARGUMENT…]
    local image=$1 folder=$2
    shift 2
    have "$image" && return
    printf '==> making a stand-in for %s\n' "$image"
    docker buildx build -q --load -t "$image" "$@" "$root/deploy/verify/standins/$folder" >/dev/null
}
standin redis:7-bookworm redis
standin postgres:15-bookworm postgres
standin prom/prometheus:v2.53.3 prometheus --build-context "binaries=$tools/root/usr"
standin prom/alertmanager:v0.28.1 alertmanager --build-context "binaries=$tools/root/usr"
"$root/deploy/local/fetch-moto.sh"
standin chrislusf/seaweedfs:3.80 seaweedfs --build-context "moto=$root/.cache/moto"
if [ "${1:-}" = compile ] && ! have swift:6.3-bookworm; then
    printf '==> making a stand-in for swift:6.3-bookworm\n'
    "$root/deploy/verify/swift-standin.sh" swift:6.3-bookworm
fi
