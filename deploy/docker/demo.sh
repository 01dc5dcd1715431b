#!/bin/sh
# From nothing to the pushes with Docker alone: makes secrets, builds the images (the first time that takes minutes), starts
# everything with Prometheus and Grafana, runs the demo, and says where to look. `docker compose down` stops it.
set -eu
cd -- "$(dirname -- "$0")/../.."
docker compose version >/dev/null 2>&1 || { echo "demo: Docker with Compose 2.26 or later is missing" >&2; exit 1; }
deploy/docker/make-env.sh
docker compose --profile observability up -d --build --wait
docker compose run --rm --build --no-deps demo
