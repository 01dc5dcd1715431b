#!/bin/sh
# Writes .env with fresh secrets for docker-compose.yml, unless it is there: they must never change by accident.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
if [ -e "$root/.env" ]; then
    echo ".env is there already; nothing was changed"
    exit 0
fi
umask 077
key() { openssl rand -base64 32; }
cat > "$root/.env" <<ENV
# The secrets of this installation. Keep a copy: without them nothing that is sealed can be read again.
SEALING_KEYS=k1:$(key)
LOOKUP_KEY=$(key)
POSTGRES_PASSWORD=$(openssl rand -hex 24)
REDIS_PASSWORD=$(openssl rand -hex 24)
ENV
echo ".env is written"
