#!/bin/sh
# From nothing to the pushes with Docker alone: makes secrets, builds the images (the first time that takes minutes), starts
# everything with Prometheus and Grafana, runs the demo, and says where to look. `docker compose down` stops it.
set -eu
cd -- "$(dirname -- "$0")/../.."
docker compose version >/dev/null 2>&1 || { echo "demo: Docker with Compose 2.26 or later is missing" >&2; exit 1; }
deploy/docker/make-env.sh
HELIOGRAPH_VERSION=${HELIOGRAPH_VERSION:-$(git describe --always --dirty 2>/dev/null || true)}
export HELIOGRAPH_VERSION
# Where Grafana's image is not to be had, everything else still is.
services=$(docker compose --profile observability config --services)
if ! docker compose --profile observability pull -q --policy missing grafana >/dev/null 2>&1; then
    echo "demo: Grafana's image cannot be fetched; going on without its dashboards" >&2
    services=$(printf '%s\n' "$services" | grep -vx grafana)
fi
# shellcheck disable=SC2086
docker compose --profile observability up -d --build --wait $services
docker compose run --rm --build --no-deps demo
