#!/usr/bin/env bash
# Runs the whole of Heliograph on this machine without containers: stack.sh up | down | status.
# Everything it makes is under .run/ (data, logs, pids, secrets); ports are private to this checkout.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
run=${HELIOGRAPH_RUN:-"$root/.run"}
binaries=${HELIOGRAPH_BINARIES:-"$root/.build/${CONFIGURATION:-debug}"}
services=(token-registry notifier face-matching-worker image-worker identity-api)
umask 077

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
fail() { printf 'stack: %s\n' "$*" >&2; exit 1; }

# --- processes -------------------------------------------------------------------------------------------------

# A pid file says the pid and when that process started: pids are used again, but not with the same start.
pid_of() { cut -d ' ' -f 1 "$run/pids/$1" 2>/dev/null || true; }

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# A process that was killed stays as a zombie (state Z) until it is collected, which takes seconds where the first process of the
# system is in no hurry. It runs no more, unless others of its threads do.
has_ended() {
    [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 1)" = Z ] &&
        [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -le 1 ]
}

is_running() {
    local pid
    pid=$(pid_of "$1")
    [ -n "$pid" ] && [ -d "/proc/$pid" ] && [ "$(started_at "$pid")" = "$(cut -d ' ' -f 2 "$run/pids/$1")" ] && ! has_ended "$pid"
}

start() { # start NAME COMMAND…: in a session of its own, output to a log
    local name=$1
    shift
    setsid -- "$@" </dev/null >>"$run/logs/$name.log" 2>&1 9>&- &
    echo "$! $(started_at $!)" >"$run/pids/$name"
}

wait_for() { # wait_for NAME SECONDS COMMAND…
    local name=$1 limit=$2
    shift 2
    local end=$((SECONDS + limit))
    until "$@" >/dev/null 2>&1; do
        is_running "$name" || { tail -n 5 "$run/logs/$name.log" >&2; fail "$name ended; its log is $run/logs/$name.log"; }
        [ $SECONDS -lt $end ] || { tail -n 5 "$run/logs/$name.log" >&2; fail "$name is not ready after $limit s; its log is $run/logs/$name.log"; }
        sleep 0.1
    done
}

# Seconds that a service may take to end what it has in hand; image-worker's calls of a model are paid for.
stop_limit() { if [ "$1" = image-worker ]; then echo 200; else echo 30; fi; }

stop() { # stop NAME SIGNAL SECONDS
    local name=$1 pid end told=$((SECONDS + 5))
    is_running "$name" || { rm -f "$run/pids/$name"; return 0; }
    pid=$(pid_of "$name")
    kill -"$2" "$pid" 2>/dev/null || true
    end=$((SECONDS + $3))
    while is_running "$name"; do
        [ $SECONDS -lt $end ] || { say "$name did not stop in $3 s: killed"; kill -9 "$pid" 2>/dev/null || true; break; }
        if [ $SECONDS -ge $told ]; then
            say "$name ends what it has in hand: up to $((end - SECONDS)) s more"
            told=$((SECONDS + 15))
        fi
        sleep 0.05
    done
    rm -f "$run/pids/$name"
}

# --- settings --------------------------------------------------------------------------------------------------

free_ports() { # N distinct free ports
    python3 - "$1" <<'PYTHON'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in held])
PYTHON
}

password() { head -c 24 /dev/urandom | base64 | tr '+/' '-_' | tr -d '='; }

write_settings() {
    local ports redis_password postgres_password
    read -r -a ports <<<"$(free_ports 11)"
    redis_password=$(password)
    postgres_password=$(password)
    {
        echo "# Written by 'make up'. What a client of this stack needs comes first."
        echo "IDENTITY_API_URL=http://127.0.0.1:${ports[0]}"
        echo "INBOX_URL=http://127.0.0.1:${ports[1]}/inbox"
        echo "FCM_URL=http://127.0.0.1:${ports[1]}"
        echo "DATABASE_URL=postgresql://heliograph:$postgres_password@127.0.0.1:${ports[3]}/heliograph"
        echo "REDIS_URL=redis://default:$redis_password@127.0.0.1:${ports[4]}/0"
        echo "METRICS_URLS=\"http://127.0.0.1:${ports[5]}/metrics http://127.0.0.1:${ports[6]}/metrics http://127.0.0.1:${ports[7]}/metrics http://127.0.0.1:${ports[8]}/metrics http://127.0.0.1:${ports[9]}/metrics\""
        echo "BLOB_STORE_PATH=\"$run/blobs\""
        echo "# For this script."
        echo "HTTP_PORT=${ports[0]}"
        echo "FCM_HTTP_PORT=${ports[1]}"
        echo "FCM_TLS_PORT=${ports[2]}"
        echo "SMTP_PORT=${ports[10]}"
        echo "POSTGRES_PORT=${ports[3]}"
        echo "POSTGRES_PASSWORD=$postgres_password"
        echo "REDIS_PORT=${ports[4]}"
        echo "ADMIN_PORTS=\"${ports[*]:5:5}\""
    } >"$run/stack.env.new"
    mv "$run/stack.env.new" "$run/stack.env"
}

# Each service has a role in Postgres and a user in Redis of its own, as in production; the addresses above are the developer's.
write_passwords() { # FILE: a line NAME=PASSWORD for each service
    local name
    for name in "${services[@]}"; do echo "$name=$(password)"; done >"$1.new"
    mv "$1.new" "$1"
}

password_of() { sed -n "s/^$2=//p" "$1"; } # FILE NAME

admin_port() { # of the service at that index
    local ports
    read -r -a ports <<<"$ADMIN_PORTS"
    echo "${ports[$1]}"
}

# --- Redis and Postgres ----------------------------------------------------------------------------------------

postgres_bin() { find /usr/lib/postgresql -name postgres -path '*/bin/*' 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname; }

# Postgres refuses to run as root: then it runs as Debian's user for it, on a folder which that user can reach.
as_postgres() { if [ "$(id -u)" -eq 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"; else "$@"; fi; }

postgres_data() {
    if [ ! -s "$run/postgres.path" ]; then
        local folder="$run/postgres"
        if [ "$(id -u)" -eq 0 ]; then
            chmod 0711 "$run"
            mkdir -p "$folder" && chown postgres:postgres "$folder"
            if ! as_postgres test -w "$folder"; then
                rmdir "$folder"
                folder=$(mktemp -d /var/tmp/heliograph-postgres.XXXXXX) && chown postgres:postgres "$folder"
            fi
        else
            mkdir -p "$folder"
        fi
        echo "$folder" >"$run/postgres.path"
    fi
    cat "$run/postgres.path"
}

start_postgres() {
    local bin data password_file
    bin=$(postgres_bin)
    [ -n "$bin" ] || fail "no Postgres server is installed: run 'make setup'"
    data=$(postgres_data)
    if [ ! -s "$data/PG_VERSION" ]; then
        password_file=$(mktemp)
        printf '%s' "$POSTGRES_PASSWORD" >"$password_file"
        if [ "$(id -u)" -eq 0 ]; then chown postgres "$password_file"; fi
        if ! (cd / && as_postgres "$bin/initdb" -D "$data" -U heliograph --pwfile="$password_file" --auth=scram-sha-256 \
            --encoding=UTF8 --locale=C.UTF-8) >>"$run/logs/postgres.log" 2>&1; then
            rm -f "$password_file"
            fail "initdb failed; see $run/logs/postgres.log"
        fi
        rm -f "$password_file"
    fi
    cd /
    if [ "$(id -u)" -eq 0 ]; then
        start postgres setpriv --reuid=postgres --regid=postgres --clear-groups -- "$bin/postgres" -D "$data" \
            -p "$POSTGRES_PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200
    else
        start postgres "$bin/postgres" -D "$data" -p "$POSTGRES_PORT" -c listen_addresses=127.0.0.1 \
            -c unix_socket_directories= -c max_connections=200
    fi
    cd "$root"
    wait_for postgres 60 pg_isready -q -h 127.0.0.1 -p "$POSTGRES_PORT"
    local sql=(env PGPASSFILE=/dev/null psql -XAtq -h 127.0.0.1 -p "$POSTGRES_PORT" -U heliograph -d postgres -c)
    export PGPASSWORD=$POSTGRES_PASSWORD
    if [ -z "$("${sql[@]}" "SELECT 1 FROM pg_database WHERE datname = 'heliograph'")" ]; then
        "${sql[@]}" "CREATE DATABASE heliograph"
    fi
    unset PGPASSWORD
}

redis_acl() { SERVICE_REDIS_PASSWORDS_FILE=$run/service-redis-passwords "$binaries/heliographctl" redis acl "$@"; }

start_redis() {
    local password=${REDIS_URL#redis://default:}
    password=${password%@*}
    mkdir -p "$run/redis"
    REDIS_OPERATOR_PASSWORD=$password redis_acl --out "$run/redis/users.acl"
    cat >"$run/redis/redis.conf" <<CONF
bind 127.0.0.1
port $REDIS_PORT
aclfile "$run/redis/users.acl"
dir "$run/redis"
appendonly yes
appendfsync everysec
maxmemory-policy noeviction
stream-node-max-entries 1
save ""
CONF
    start redis redis-server "$run/redis/redis.conf"
    wait_for redis 30 env REDISCLI_AUTH="$password" redis-cli -p "$REDIS_PORT" ping
}

# --- the stack -------------------------------------------------------------------------------------------------

# Settings go through the environment, which only the owner can read; a command line everybody can.
start_service() ( # NAME INDEX
    port=$(admin_port "$2")
    database_password=$(password_of "$run/service-db-passwords" "$1")
    redis_password=$(password_of "$run/service-redis-passwords" "$1")
    export DATABASE_URL="postgresql://heliograph_${1//-/_}:$database_password@127.0.0.1:$POSTGRES_PORT/heliograph"
    export REDIS_URL="redis://heliograph-$1:$redis_password@127.0.0.1:$REDIS_PORT/0"
    export ENVIRONMENT=production ALLOW_PLAINTEXT=1 LOG_LEVEL=${LOG_LEVEL:-info} BLOB_STORE_PATH=$run/blobs
    # Each service has the keys that it needs, and no others.
    case $1 in
        identity-api) export FACE_KEYS ACCOUNT_KEYS TOKEN_KEYS PICTURE_KEYS LOOKUP_KEYS SESSION_KEY MEDIA_LINK_KEY ;;
        face-matching-worker) export FACE_KEYS SESSION_KEY ;;
        image-worker) export PICTURE_KEYS ;;
        notifier) export TOKEN_KEYS MEDIA_LINK_KEY ;;
    esac
    export PUBLIC_URL=http://127.0.0.1:$HTTP_PORT
    export HTTP_HOST=127.0.0.1 HTTP_PORT ADMIN_HOST=127.0.0.1 ADMIN_PORT=$port
    export FCM_BASE_URL=https://localhost:$FCM_TLS_PORT FCM_TOKEN_URL=https://localhost:$FCM_TLS_PORT/token
    export FCM_CA_FILE=$run/fcm/certificate.pem GOOGLE_APPLICATION_CREDENTIALS=$run/fcm/service-account.json
    export SMTP_URL=smtp://localhost:$SMTP_PORT SMTP_CA_FILE=$run/fcm/certificate.pem
    export SMTP_FROM='Heliograph <no-reply@heliograph.example>'
    # ID tokens of the emulator: POST $FCM_URL/control/firebase/tokens
    export FIREBASE_AUTH_PROJECT_ID=heliograph-dev
    export FIREBASE_AUTH_KEYS_URL=$FCM_URL/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com
    export FACE_MODELS_PATH=${FACE_MODELS_PATH:-$root/.cache/models}
    start "$1" "$binaries/$1"
)

is_ready() { env ADMIN_PORT="$(admin_port "$2")" "$binaries/$1" healthcheck >/dev/null 2>&1; } # NAME INDEX

# Whether a service that runs is ready, or will not end within the time that it may take to stop.
lasts() { # NAME INDEX
    local end=$((SECONDS + $(stop_limit "$1"))) told=$((SECONDS + 5))
    until is_ready "$1" "$2"; do
        is_running "$1" || return 1
        [ $SECONDS -lt $end ] || return 0
        if [ $SECONDS -ge $told ]; then
            say "$1 runs and is not ready: it may be ending; up to $((end - SECONDS)) s more"
            told=$((SECONDS + 15))
        fi
        sleep 0.1
    done
}

up() {
    local name index fresh=()
    for name in "${services[@]}" fcm-emulator heliographctl; do
        [ -x "$binaries/$name" ] || fail "$binaries/$name is not built: run 'make build'"
    done
    mkdir -p "$run"/{pids,logs,blobs,fcm}
    exec 9>"$run/lock"
    flock -w 120 9 || fail "another 'make up' or 'make down' is at work"
    [ -s "$run/stack.env" ] || write_settings
    [ -s "$run/secrets.env" ] || "$binaries/heliographctl" keys generate >"$run/secrets.env"
    for name in db redis; do [ -s "$run/service-$name-passwords" ] || write_passwords "$run/service-$name-passwords"; done
    # shellcheck disable=SC1091
    . "$run/stack.env"
    # shellcheck disable=SC1091
    . "$run/secrets.env"

    is_running redis || { say "Redis on port $REDIS_PORT"; start_redis; }
    is_running postgres || { say "Postgres on port $POSTGRES_PORT"; start_postgres; }
    say "migrations, roles and users"
    DATABASE_URL=$DATABASE_URL SERVICE_DB_PASSWORDS_FILE=$run/service-db-passwords "$binaries/heliographctl" migrate up --service-roles
    # One that ran before has the rules of the version that started it.
    REDIS_URL=$REDIS_URL redis_acl --apply
    if ! is_running fcm-emulator; then
        say "fcm-emulator on port $FCM_HTTP_PORT"
        start fcm-emulator "$binaries/fcm-emulator" run --host 127.0.0.1 --port "$FCM_HTTP_PORT" --tls-port "$FCM_TLS_PORT" \
            --tls-certificate "$run/fcm/certificate.pem" --tls-key "$run/fcm/key.pem" \
            --service-account "$run/fcm/service-account.json" --smtp-port "$SMTP_PORT"
        wait_for fcm-emulator 30 "$binaries/fcm-emulator" healthcheck --port "$FCM_HTTP_PORT"
    fi
    for index in "${!services[@]}"; do
        name=${services[$index]}
        if is_running "$name" && [ "$binaries/$name" -nt "$run/pids/$name" ]; then
            say "$name was built since it started: restarting it"
            stop "$name" TERM "$(stop_limit "$name")"
        fi
        if ! is_running "$name"; then
            start_service "$name" "$index"
            fresh[index]=1
        fi
    done
    for index in "${!services[@]}"; do
        name=${services[$index]}
        # One that ran before may be on its way out, killed or told to stop a moment ago: once it has ended, it is started again.
        if [ -z "${fresh[$index]:-}" ] && ! lasts "$name" "$index"; then
            say "$name has just ended: starting it again"
            start_service "$name" "$index"
        fi
        wait_for "$name" 60 is_ready "$name" "$index"
        say "$name is ready"
    done
    say "up: $IDENTITY_API_URL/   inbox: $INBOX_URL   settings: ${run#"$root/"}/stack.env"
}

down() {
    [ -d "$run" ] || return 0
    exec 9>"$run/lock"
    flock -w 240 9 || fail "another 'make up' or 'make down' is at work"
    local name
    for name in "${services[@]}"; do
        if is_running "$name"; then kill -TERM "$(pid_of "$name")" 2>/dev/null || true; fi
    done
    for name in identity-api image-worker face-matching-worker notifier token-registry; do
        stop "$name" TERM "$(stop_limit "$name")"
    done
    stop fcm-emulator TERM 10
    stop postgres INT 20
    stop redis TERM 20
    say "down (data stays in ${run#"$root/"}; 'make clean-data' removes it)"
}

# Whether any process of the stack runs.
any_runs() {
    local name
    for name in redis postgres fcm-emulator "${services[@]}"; do
        if is_running "$name"; then return 0; fi
    done
    return 1
}

status() {
    [ -s "$run/stack.env" ] || fail "nothing was started yet: run 'make up'"
    any_runs || { echo "down: make up (nothing of the stack runs; its data and logs are in ${run#"$root/"})"; return 1; }
    [ -x "$binaries/heliographctl" ] || fail "$binaries/heliographctl is not built: run 'make build'"
    # shellcheck disable=SC1091
    . "$run/stack.env"
    local all=0
    DATABASE_URL=$DATABASE_URL REDIS_URL=$REDIS_URL METRICS_URLS=$METRICS_URLS "$binaries/heliographctl" status || all=$?
    is_running fcm-emulator || { all=1; echo "fcm-emulator does not run: its log is ${run#"$root/"}/logs/fcm-emulator.log"; }
    printf 'API %s   inbox %s   logs %s   start: make up\n' "$IDENTITY_API_URL" "$INBOX_URL" "${run#"$root/"}/logs"
    return $all
}

clean_data() {
    down
    if [ -s "$run/postgres.path" ]; then rm -rf -- "$(cat "$run/postgres.path")"; fi
    rm -rf -- "$run"
}

case ${1:-} in
    up | down | status) "$1" ;;
    clean-data) clean_data ;;
    *) echo "usage: $0 up | down | status | clean-data" >&2; exit 64 ;;
esac
