#!/usr/bin/env bash
# Deploys Heliograph in containers on this machine and tries to break it; `make verify-deploy` runs it. One line a step:
# PASS, FAIL with what was seen, or SKIP with the reason. Needs root for a Docker Engine of its own, or DOCKER_HOST.
# Nothing of it stays but .cache/verify; KEEP=1 leaves the stack running, DIST=ready takes the binaries that are in dist/out.
set -uo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root" || exit 1
scratch=$(mktemp -d)
failed=0 began=$SECONDS
export COMPOSE_PROJECT_NAME=heliograph-verify
export IDENTITY_API_PORT=18080 FCM_EMULATOR_PORT=19080 PROMETHEUS_PORT=19091 ALERTMANAGER_PORT=19093 GRAFANA_PORT=13000 S3_PORT=18333
all_profiles=(--profile observability --profile s3 --profile demo)
services=(identity-api face-matching-worker image-worker token-registry notifier)

result() { printf '%s  %s%s\n' "$1" "$2" "${3:+ ($3)}"; }

# step NAME COMMAND…: its output is shown when it fails, and its last line beside PASS.
step() {
    local name=$1 start=$SECONDS
    shift
    if "$@" >"$scratch/output" 2>&1; then
        result PASS "$name" "$((SECONDS - start)) s$(tail -n 1 "$scratch/output" | sed -n 's/^= /, /p')"
    else
        result FAIL "$name"
        tail -n 40 "$scratch/output" | sed 's/^/      /'
        failed=1
        return 1
    fi
}

compose() { docker compose -f docker-compose.yml -f deploy/docker/prebuilt.compose.yml --project-directory . "$@"; }
containers() { compose ps -q "$1"; }
field() { docker inspect -f "$1" "$2"; }

# until SECONDS COMMAND…: true as soon as the command is.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.5
    done
}

healthy() { # healthy SERVICE COUNT
    local id count=0
    for id in $(containers "$1"); do [ "$(field '{{.State.Health.Status}}' "$id")" != healthy ] || count=$((count + 1)); done
    [ "$count" -eq "$2" ]
}

redis_cli() { compose exec -T redis sh -c 'REDISCLI_AUTH=$(cat /run/secrets/redis-password) exec redis-cli "$@"' sh "$@" </dev/null; }
# Without --no-deps it would scale what it depends on back to one.
demo() { compose --profile demo run --rm -T --no-deps demo >"$scratch/demo" 2>&1 || { cat "$scratch/demo"; return 1; }; }

# Everything that the demo tells a newcomer to open is there; Grafana's image is in no reach of a machine without a registry.
links_open() {
    local link count=0
    for link in $(grep -oE 'http://localhost:[^ ]+' "$scratch/demo"); do
        curl -sS --fail --max-time 10 "$link" | grep -qi '<!doctype html>' || { echo "$link is no page"; return 1; }
        count=$((count + 1))
    done
    [ $count -ge 2 ] || { echo "the demo names $count links"; return 1; }
    echo "= $count links"
}
# shellcheck source=deploy/verify/people.sh
. "$root/deploy/verify/people.sh"

# --- steps -----------------------------------------------------------------------------------------------------

lint() { deploy/verify/lint.sh && ! deploy/verify/lint.sh | grep -q ^SKIP; }

stack_is_up() {
    compose "${all_profiles[@]}" build -q &&
        compose up -d --no-build --wait --wait-timeout 180 --scale face-matching-worker=4 &&
        compose up -d --no-build --wait --wait-timeout 60 prometheus alertmanager
}

# A consumer is there from its first message on, and named after its container.
four_consumers() {
    local names
    crowd 16 && crowd_is_served || return 1
    names=$(redis_cli XINFO CONSUMERS "$face_stream" face-matching-worker | sed -n '/^name$/{n;p}' | cut -d : -f 2 | sort -u)
    printf '%s\n' "$names"
    [ "$(grep -c . <<<"$names")" -eq 4 ]
}
face_stream='heliograph:{ekyc.requested}'

# The host's signal, as `docker kill` counts as a stop by hand, after which nothing restarts.
kill_hard() { # kill_hard CONTAINER [SIGNAL]
    local pid before
    pid=$(field '{{.State.Pid}}' "$1") before=$(field '{{.RestartCount}}' "$1")
    kill -"${2:-KILL}" "$pid" && until_true 60 restarted "$1" "$before"
}
restarted() { [ "$(field '{{.RestartCount}}' "$1")" -gt "$2" ]; }

# survives SERVICE: killed while a crowd signs up, of whom nobody is lost and nobody is told twice
survives() {
    local id
    crowd 16 || return 1
    id=$(containers "$1" | head -n 1)
    if [ "$1" = face-matching-worker ]; then id=$(until_true 10 at_work); fi
    [ "$(crowd_open)" -gt 0 ] || { echo "nothing was under way any more"; return 1; }
    kill_hard "$id" || { echo "$1 was not started again"; return 1; }
    crowd_is_served
}

# The container of a face-matching-worker that has something in hand; consumers are named after their hosts.
at_work() {
    redis_cli XINFO CONSUMERS "$face_stream" face-matching-worker | paste -sd ' ' |
        grep -oE 'name face-matching-worker:[0-9a-f]+\S* pending [1-9]' | head -n 1 | cut -d : -f 2 | grep .
}

stops_in_time() {
    local service id
    for service in "${services[@]}"; do
        for id in $(containers "$service"); do
            docker stop -t "$(field '{{.Config.StopTimeout}}' "$id")" "$id" >/dev/null
            [ "$(field '{{.State.ExitCode}}' "$id")" = 0 ] || { echo "$service ended with $(field '{{.State.ExitCode}}' "$id")"; docker logs --tail 5 "$id"; return 1; }
        done
    done
    compose up -d --no-build --wait --wait-timeout 120 --scale face-matching-worker=2
}

hardened() {
    local service id faults=0
    for service in redis postgres "${services[@]}" fcm-emulator prometheus alertmanager; do
        for id in $(containers "$service"); do
            [ "$(field '{{.HostConfig.ReadonlyRootfs}}' "$id")" = true ] || { echo "$service can write to its root"; faults=1; }
            [ "$(field '{{.HostConfig.CapDrop}}' "$id")" = '[ALL]' ] || { echo "$service keeps capabilities"; faults=1; }
            [ "$(field '{{.HostConfig.Memory}}' "$id")" -gt 0 ] || { echo "$service has no limit of memory"; faults=1; }
            [ "$(field '{{.HostConfig.PidsLimit}}' "$id")" -gt 0 ] || { echo "$service has no limit of processes"; faults=1; }
            field '{{.HostConfig.SecurityOpt}}' "$id" | grep -q no-new-privileges || { echo "$service may gain privileges"; faults=1; }
            # No secret is in an environment, where every child and every crash report has it.
            if field '{{.Config.Env}}' "$id" | grep -qFf <(cut -c 1-24 secrets/postgres-password secrets/lookup-key | grep .); then echo "$service has a secret in its environment"; faults=1; fi
        done
    done
    for service in "${services[@]}" fcm-emulator; do
        id=$(containers "$service" | head -n 1)
        [ "$(field '{{.Config.User}}' "$id")" = 10001:10001 ] || { echo "$service runs as $(field '{{.Config.User}}' "$id")"; faults=1; }
    done
    return $faults
}

prometheus_api() { # prometheus_api PATH [CURL-ARGUMENTS…]
    local path=$1
    shift
    curl -sS --max-time 5 "http://127.0.0.1:$PROMETHEUS_PORT/api/v1/$path" "$@"
}
all_targets_up() {
    local replicas
    replicas=$(for service in "${services[@]}"; do containers "$service"; done | wc -l)
    prometheus_api targets | jq -e --argjson replicas "$replicas" '[.data.activeTargets[] | select(.labels.job == "heliograph")]
        | length == $replicas and all(.health == "up")' >/dev/null
}
targets_are_up() { until_true 60 all_targets_up || { prometheus_api targets | jq '.data.activeTargets[] | {scrapeUrl, health, lastError}'; return 1; }; }

# Every expression of every dashboard gives at least one line, but for what only pictures that fail have.
dashboards_have_data() {
    until_true 60 all_expressions_give || { cat "$scratch/empty"; return 1; }
    echo "= $(jq -r '.panels[].targets[]?.expr' deploy/grafana/dashboards/*.json | wc -l) expressions"
}
all_expressions_give() {
    local file expression
    : >"$scratch/empty"
    for file in deploy/grafana/dashboards/*.json; do
        while IFS= read -r expression; do
            prometheus_api query -G --data-urlencode "query=${expression//\$__rate_interval/5m}" | jq -e '.data.result | length > 0' >/dev/null ||
                echo "$(basename "$file"): $expression" >>"$scratch/empty"
        done < <(jq -r '.panels[].targets[]?.expr | select(contains("image_jobs_ended_total{status=\"failed\"}") | not)' "$file")
    done
    [ ! -s "$scratch/empty" ]
}
metrics_are_exported() { until_true 30 no_metric_is_missing || { cat "$scratch/missing"; return 1; }; }
no_metric_is_missing() {
    local name
    : >"$scratch/missing"
    prometheus_api label/__name__/values | jq -r '.data[]' | sort >"$scratch/names"
    for name in $(cat deploy/grafana/dashboards/*.json deploy/prometheus/rules/*.yml | grep -oE '\b(bus|http|ekyc|image|topic|push|redis|process)_[a-z_]+\b' | sort -u); do
        grep -qE "^$name(_total|_bucket|_sum|_count)?$" "$scratch/names" || echo "nobody exports $name" >>"$scratch/missing"
    done
    [ ! -s "$scratch/missing" ]
}

grafana_image=$(sed -n 's/^ *image: \(grafana.*\)/\1/p' docker-compose.yml)
grafana_shows_dashboards() {
    compose up -d --no-build --wait --wait-timeout 120 grafana && [ "$(curl -sS --fail --max-time 10 "http://127.0.0.1:$GRAFANA_PORT/api/search?type=dash-db" | jq length)" -eq "$(find deploy/grafana/dashboards -name '*.json' | wc -l)" ]
}

firing() { curl -sS --max-time 5 "http://127.0.0.1:$ALERTMANAGER_PORT/api/v2/alerts" | jq -e --arg name "$1" --arg service "$2" 'any(.[]; .labels.alertname == $name and .labels.service == $service)' >/dev/null; }
alert_fires() {
    compose stop token-registry >/dev/null 2>&1
    until_true 150 firing ServiceDown token-registry || { prometheus_api alerts | jq -c '.data.alerts[]'; return 1; }
    compose up -d --no-build --wait token-registry >/dev/null 2>&1
}

# A service that crashes says where, in one line that whoever collects the logs can read, and is started again.
crash_leaves_backtrace() {
    local id before
    id=$(containers image-worker | head -n 1)
    before=$(field '{{.RestartCount}}' "$id")
    python3 deploy/verify/crash.py "$(field '{{.State.Pid}}' "$id")" || return 1
    until_true 120 restarted "$id" "$before" || { echo "image-worker was not started again"; docker logs --tail 5 "$id"; return 1; }
    docker logs "$id" 2>&1 | grep -F '"crashReport"' >"$scratch/crash" || { docker logs --tail 20 "$id"; return 1; }
    jq -e '.description == "Illegal instruction" and any(.threads[] | select(.crashed) | .frames[]?; .image == "image-worker" and .sourceLocation.line > 0)' "$scratch/crash" >/dev/null ||
        { echo "the backtrace does not say where"; head -c 2000 "$scratch/crash"; return 1; }
    echo "= $(jq .backtraceTime "$scratch/crash" | cut -c 1-4) s for the backtrace"
    until_true 60 healthy image-worker 1
}

# What an image holds, and the memory of its container, without the cache of files, before it has done anything.
sizes() {
    local service id image memory
    printf '      %-22s %10s %12s\n' service image "idle memory"
    for service in "${services[@]}"; do
        id=$(containers "$service" | head -n 1)
        image=$(docker image inspect -f '{{.Size}}' "heliograph/$service") || return 1
        memory=$(docker stats --no-stream --format '{{.MemUsage}}' "$id" | cut -d / -f 1) || return 1
        printf '      %-22s %7d MB %12s\n' "$service" $((image / 1000000)) "$memory"
    done
}

# Sessions that workers with one core each decide in a second, from a queue that is there before they begin, all at once.
sessions_per_second() { # sessions_per_second WORKERS
    local pids
    FACE_ENGINE_THREADS=1 compose up -d --no-build --wait --wait-timeout 120 --scale "face-matching-worker=$1" face-matching-worker >/dev/null 2>&1 || return 1
    pids=$(for id in $(containers face-matching-worker); do field '{{.State.Pid}}' "$id"; done)
    # shellcheck disable=SC2086
    kill -STOP $pids && crowd 32 >/dev/null && kill -CONT $pids && until_true 120 crowd_is_decided &&
        sql "SELECT count(*) / extract(epoch FROM max(completed_at) - min(started_at)) FROM sessions WHERE id IN ($(crowd_ids)) AND state = 'succeeded'"
}

# What else runs on this machine stands back while containers of our own engine are measured: weigh SHARES WEIGHT, which
# are those of control groups of version 1 and 2.
weigh() {
    [ "$DOCKER_HOST" = "unix://$root/.cache/verify/docker/docker.sock" ] || return 0
    [ ! -w /sys/fs/cgroup/cpu/docker/cpu.shares ] || echo "$1" >/sys/fs/cgroup/cpu/docker/cpu.shares
    [ ! -w /sys/fs/cgroup/docker/cpu.weight ] || echo "$2" >/sys/fs/cgroup/docker/cpu.weight
}

# Of 32 sessions one of two may get more than the other, and then works alone at the end: there are two tries.
two_workers_do_twice_the_work() {
    local one two
    for _ in 1 2; do
        weigh 262144 10000
        one=$(sessions_per_second 1) && two=$(sessions_per_second 2) || { weigh 1024 100; return 1; }
        weigh 1024 100
        awk -v one="$one" -v two="$two" 'BEGIN { printf "= one %.2f/s, two %.2f/s, × %.2f\n", one, two, two / one; exit two / one >= 1.7 ? 0 : 1 }' && return
    done
    return 1
}

# All services with the object store of the profile s3, and the demo through it.
runs_on_s3() {
    export BLOB_STORE=s3 S3_ENDPOINT=http://s3:8333 S3_PUBLIC_ENDPOINT=http://localhost:$S3_PORT S3_BUCKET=heliograph
    export S3_REGION=us-east-1 S3_ENCRYPTION=none DEMO_MEDIA_CONNECT_TO=::s3:8333
    compose --profile s3 up -d --no-build --wait --wait-timeout 180 && demo || return 1
    [ "$(curl -sS --max-time 10 "http://localhost:$S3_PORT/heliograph?list-type=2" | grep -o '<Key>' | wc -l)" -ge 6 ] || { echo "the pictures are not in the bucket"; return 1; }
    grep -q "completed" "$scratch/demo"
}

nothing_is_left() {
    compose "${all_profiles[@]}" down -v --remove-orphans >/dev/null 2>&1
    [ -z "$(docker ps -aq --filter label=com.docker.compose.project=$COMPOSE_PROJECT_NAME)" ] &&
        [ -z "$(docker volume ls -q --filter label=com.docker.compose.project=$COMPOSE_PROJECT_NAME)" ] &&
        [ -z "$(docker network ls -q --filter label=com.docker.compose.project=$COMPOSE_PROJECT_NAME)" ]
}

finish() {
    local left=$?
    if [ -z "${KEEP:-}" ]; then
        if command -v docker >/dev/null && docker version >/dev/null 2>&1; then compose "${all_profiles[@]}" down -v --remove-orphans >/dev/null 2>&1; fi
        deploy/verify/docker-down.sh
    fi
    rm -rf "$scratch"
    exit "$left"
}

# --- the run ---------------------------------------------------------------------------------------------------

step "what describes the deployment agrees" lint
if [ -z "${DOCKER_HOST:-}" ] && [ "$(id -u)" != 0 ]; then
    result SKIP "everything in containers" "a Docker Engine of its own needs root; or set DOCKER_HOST"
    exit $failed
fi
trap finish EXIT
trap 'exit 1' INT TERM
step "tools" deploy/verify/tools.sh docker || exit 1
if [ "${DIST:-}" = ready ]; then result SKIP "binaries (make dist)" "DIST=ready: those in dist/out"; else step "binaries (make dist)" make -s dist || exit 1; fi
step "a Docker Engine and the images it starts from" deploy/verify/docker-up.sh || exit 1
# shellcheck disable=SC1091
. .cache/verify/docker/docker.env
step "secrets" deploy/docker/make-env.sh || exit 1
step "the stack is up and healthy, with four face-matching-workers" stack_is_up || { compose ps -a; compose logs --tail 5; exit 1; }
sizes
step "the demo: sign-up, sign-in, refusal, six pictures" demo
step "the links that it prints open" links_open
step "sixteen people sign up at once, served by four distinct consumers" four_consumers
step "the rest of the API: orders, topics, chat, receipts, a phone that is gone" rest_of_the_api
step "containers are hardened" hardened
step "Prometheus sees every replica" targets_are_up
step "every figure of dashboards and alerts is exported" metrics_are_exported
step "every expression of the dashboards can be asked" dashboards_have_data
if docker pull -q "$grafana_image" >/dev/null 2>&1; then step "Grafana shows every dashboard" grafana_shows_dashboards; else
    result SKIP "Grafana shows every dashboard" "$grafana_image cannot be fetched; lint.sh compares its provisioning with compose and the dashboards"
fi
step "a service that crashes leaves a backtrace and comes back" crash_leaves_backtrace
step "a face-matching-worker killed at work: nothing is lost" survives face-matching-worker
step "Redis killed at work: nothing is lost" survives redis
step "Postgres killed at work: nothing is lost" survives postgres
step "a service that is down is told of" alert_fires
step "every service ends in time, with exit code 0" stops_in_time
if [ "$(nproc)" -ge 2 ]; then step "two face-matching-workers of one core do 1.7 times the work of one" two_workers_do_twice_the_work; else
    result SKIP "two face-matching-workers of one core do 1.7 times the work of one" "this machine has one core"
fi
step "the demo with pictures in an object store (profile s3)" runs_on_s3
[ -n "${KEEP:-}" ] || step "nothing is left" nothing_is_left
printf '%s in %d s\n' "$([ $failed = 0 ] && echo "all passed" || echo "not all passed")" $((SECONDS - began))
exit $failed
