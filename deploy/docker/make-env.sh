#!/bin/sh
# Makes fresh secrets for docker-compose.yml in secrets/, one file each: make-env.sh [kubernetes]
# Those that are there stay: they must never change by accident. With "kubernetes" they are made in secrets/kubernetes, with
# the addresses that overlays/local has.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$root/secrets
case ${1:-} in
    '') ;;
    kubernetes) folder=$root/secrets/kubernetes ;;
    *) echo "make-env: unknown argument $1; it is nothing or kubernetes" >&2; exit 64 ;;
esac
if ! command -v openssl > /dev/null; then
    echo "make-env: openssl is missing (Debian's package openssl); nothing was written" >&2
    exit 1
fi

# The folder keeps others out; the files are open, as the containers that they are mounted into have users of their own.
umask 077
mkdir -p "$folder"
umask 022
made=''
prefix=''
secret() { # secret NAME VALUE: through a new file, so that one that is there is a whole one
    [ -e "$folder/$1" ] && return 0
    [ -n "$2" ] || { echo "make-env: no value for $1" >&2; exit 1; }
    printf '%s\n' "$2" > "$folder/$1.new"
    mv "$folder/$1.new" "$folder/$1"
    made="$made $1"
}

# What an earlier version kept in .env is taken over: with another key nothing that is sealed could be read again.
random() { # random SETTING OPENSSL-RAND-ARGUMENTS…
    name=$1
    shift
    before=$( { sed -n "s/^$name=//p" "$root/.env" 2>/dev/null || true; } | tail -n 1)
    if [ -n "$before" ] && [ "$folder" = "$root/secrets" ]; then printf '%s' "$before"; else printf '%s%s' "$prefix" "$(openssl rand "$@")"; fi
}

for ring in face account token picture lookup; do
    secret "$ring-keys" "$(prefix=k1: random "$(printf '%s_KEYS' "$ring" | tr a-z A-Z)" -base64 32)"
done
secret session-key "$(random SESSION_KEY -base64 32)"
secret media-link-key "$(random MEDIA_LINK_KEY -base64 32)"
secret postgres-password "$(random POSTGRES_PASSWORD -hex 24)"
secret redis-password "$(random REDIS_PASSWORD -hex 24)"
postgres_password=$(cat "$folder/postgres-password")
secret database-url "postgresql://heliograph:$postgres_password@postgres:5432/heliograph"
# Each service has a role in Postgres and a user in Redis of its own.
services='identity-api face-matching-worker image-worker token-registry notifier'
passwords() { for service in $services; do printf '%s=%s\n' "$service" "$(openssl rand -hex 24)"; done; }
secret service-db-passwords "$(passwords)"
secret service-redis-passwords "$(passwords)"
for service in $services; do
    mkdir -p "$folder/$service"
    role=heliograph_$(printf %s "$service" | tr - _)
    secret "$service/database-url" \
        "postgresql://$role:$(sed -n "s/^$service=//p" "$folder/service-db-passwords")@postgres:5432/heliograph"
    secret "$service/redis-url" "redis://heliograph-$service:$(sed -n "s/^$service=//p" "$folder/service-redis-passwords")@redis:6379/0"
done
# What is not used has an empty file: compose mounts every secret that it lists, and Kubernetes every key.
[ -e "$folder/smtp-password" ] || : > "$folder/smtp-password"
if [ "${1:-}" = kubernetes ]; then
    secret database-direct-url "$(cat "$folder/database-url")"
else
    secret grafana-password "$(openssl rand -hex 16)"
    for name in gemini-api-key aws-access-key-id aws-secret-access-key; do [ -e "$folder/$name" ] || : > "$folder/$name"; done
    # The credentials of the object store in docker-compose.yml; those of another one take their place.
    for name in s3-access-key-id s3-secret-access-key; do [ -s "$folder/$name" ] || rm -f "$folder/$name"; done
    secret s3-access-key-id "$(openssl rand -hex 10)"
    secret s3-secret-access-key "$(openssl rand -hex 20)"
    secret s3.json "$(printf '{"identities":[{"name":"heliograph","credentials":[{"accessKey":"%s","secretKey":"%s"}],"actions":["Admin","Read","Write","List"]}]}' \
        "$(cat "$folder/s3-access-key-id")" "$(cat "$folder/s3-secret-access-key")")"
fi
if [ -n "$made" ]; then
    echo "made in $folder:$made. Keep a copy: without the *-keys nothing that is sealed can be read again, and no account is found."
else
    echo "all secrets are in $folder already; nothing was changed"
fi
