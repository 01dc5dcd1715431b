#!/bin/sh
# Writes .env with fresh secrets for docker-compose.yml. Those that are there stay: they must never change by accident.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
if [ -e "$root/.env" ] && grep -q '^MEDIA_LINK_KEY=' "$root/.env"; then
    echo ".env is there already; nothing was changed"
    exit 0
fi
if ! command -v openssl > /dev/null; then
    echo "make-env: openssl is missing (Debian's package openssl); nothing was written" >&2
    exit 1
fi
umask 077
media_link_key=$(openssl rand -base64 32)
if [ -e "$root/.env" ]; then
    printf 'MEDIA_LINK_KEY=%s\n' "$media_link_key" >> "$root/.env"
    echo ".env was there already; MEDIA_LINK_KEY is added"
    exit 0
fi
# Into variables first: a command that fails inside a here-document would go unnoticed and leave an empty secret.
sealing_key=$(openssl rand -base64 32)
lookup_key=$(openssl rand -base64 32)
postgres_password=$(openssl rand -hex 24)
redis_password=$(openssl rand -hex 24)
trap 'rm -f "$root/.env.new"' EXIT
cat > "$root/.env.new" <<ENV
# The secrets of this installation. Keep a copy: without them nothing that is sealed can be read again.
SEALING_KEYS=k1:$sealing_key
LOOKUP_KEY=$lookup_key
MEDIA_LINK_KEY=$media_link_key
POSTGRES_PASSWORD=$postgres_password
REDIS_PASSWORD=$redis_password
ENV
mv "$root/.env.new" "$root/.env"
echo ".env is written"
