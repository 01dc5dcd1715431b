#!/usr/bin/env bash
# Deploys Heliograph in containers on this machine and tries to break it; `make verify-deploy` runs it. One line a step:
# PASS, FAIL with what was seen, or SKIP with the reason. Needs root for a Docker Engine of its own, or DOCKER_HOST.
# The binaries are compiled in a container, by the Dockerfile; DIST=ready takes those that `make dist` left in dist/out.
# Nothing of it stays but .cache/verify; KEEP=1 leaves the stack running.
set -uo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root" || exit 1
scratch=$(mktemp -d)
failed=0 began=$SECONDS
export COMPOSE_PROJECT_NAME=heliograph-verify COMPOSE_FILE=docker-compose.yml
[ "${DIST:-}" != ready ] || COMPOSE_FILE=docker-compose.yml:deploy/docker/prebuilt.compose.yml
export IDENTITY_API_PORT=18080 FCM_EMULATOR_PORT=19080 PROMETHEUS_PORT=19091 ALERTMANAGER_PORT=19093 GRAFANA_PORT=13000 S3_PORT=18333
# All people of this script have one address.
export EKYC_IN_FLIGHT_PER_ADDRESS=0 EKYC_FIRST_SECONDS_PER_ADDRESS=0 EKYC_FIRST_SECONDS_PER_ACCOUNT=0 EKYC_SECONDS_PER_ADDRESS=0
all_profiles=(--profile observability --profile s3 --profile demo)
services=(identity-api face-matching-worker image-worker token-registry notifier)

result() { printf '%s  %s%s\n' "$1" "$2" "${3:+ ($3)}"; }

# step NAME COMMAND…: its output is shown when it fails, and its last line beside PASS. Code 75 says that this machine cannot do it.
step() {
    local name=$1 start=$SECONDS code
    shift
    "$@" >"$scratch/output" 2>&1
    code=$?
    case $code in
        0) result PASS "$name" "$((SECONDS - start)) s$(tail -n 1 "$scratch/output" | sed -n 's/^= /, /p')" ;;
        75) result SKIP "$name" "$(tail -n 1 "$scratch/output")" ;;
        *)
            result FAIL "$name"
            tail -n 40 "$scratch/output" | sed 's/^/      /'
            failed=1
            ;;
    esac
    return $code
}

compose() { docker compose "$@"; }
containers() { compose ps -q "$1"; }
field() { docker inspect -f "$1" "$2"; }

# until SECONDS COMMAND…: true as soon as the command is.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.2
    done
}

healthy() { # healthy SERVICE COUNT
    local id count=0
    for id in $(containers "$1"); do [ "$(field '{{.State.Health.Status}}' "$id")" != healthy ] || count=$((count + 1)); done
    [ "$count" -eq "$2" ]
}

redis_cli() { compose exec -T redis sh -c 'REDISCLI_AUTH=$(cat /run/secrets/redis-password) exec redis-cli "$@"' sh "$@" </dev/null; }

# What a newcomer is told to begin with, from nothing to the pushes.
one_command() {
    if deploy/docker/demo.sh >"$scratch/demo" 2>&1 && grep -q "All three as they must be" "$scratch/demo"; then return; fi
    tail -n 40 "$scratch/demo"
    compose ps -a
    compose logs --tail 5
    return 1
}
# Without --no-deps it would scale what it depends on back to one.
demo() { compose run --rm -T --no-deps demo >"$scratch/demo" 2>&1 || { cat "$scratch/demo"; return 1; }; }

# Everything that the demo tells a newcomer to open is there; Grafana's image is in no reach of a machine without a registry.
links_open() {
    local link page count=0
    for link in $(grep -oE 'http://localhost:[^ ]+' "$scratch/demo"); do
        # Read whole: a pipe that grep leaves early is an error of curl.
        page=$(curl -sS --fail --max-time 10 "$link") && grep -qi '<!doctype html>' <<<"$page" || { echo "$link is no page"; return 1; }
        count=$((count + 1))
    done
    [ $count -ge 2 ] || { echo "the demo names $count links"; return 1; }
    echo "= $count links"
}
# shellcheck source=deploy/verify/people.sh
. "$root/deploy/verify/people.sh"

# --- steps -----------------------------------------------------------------------------------------------------

lint() { deploy/verify/lint.sh >"$scratch/lint"; local code=$?; cat "$scratch/lint"; [ $code = 0 ] && ! grep -q ^SKIP "$scratch/lint"; }

# What the images and their layers take, with a compilation or without.
there_is_room() {
    local wanted=14 free
    [ "${DIST:-}" != ready ] || wanted=8
    [ ! -d .cache/verify/docker/data/image ] || wanted=4
    mkdir -p .cache && free=$(($(df --output=avail -k .cache | tail -n 1) / 1048576))
    [ "$free" -ge "$wanted" ] || { echo "$free GiB are free where $wanted are needed"; return 75; }
    echo "= $free GiB free"
}

# As `docker compose up --build` does at first: all images share this stage.
compiles() { docker buildx build -q -o type=cacheonly -f deploy/docker/Dockerfile --target build .; }

# A consumer is there from its first message on, and named after its container.
four_consumers() {
    local names id
    compose up -d --no-build --wait --wait-timeout 120 --scale face-matching-worker=4 && crowd 16 && crowd_is_served || return 1
    names=$(redis_cli XINFO CONSUMERS "$face_stream" face-matching-worker | sed -n '/^name$/{n;p}' | cut -d : -f 2 | sort -u)
    printf '%s\n' "$names"
    # A container that was replaced meanwhile may have left its consumer.
    for id in $(containers face-matching-worker); do grep -qx "${id:0:12}" <<<"$names" || { echo "$id has taken nothing"; return 1; }; done
    [ "$(containers face-matching-worker | grep -c .)" -eq 4 ]
}
face_stream='heliograph:{ekyc.requested}'

restarted() { [ "$(field '{{.RestartCount}}' "$1")" -gt "$2" ]; }

# queue COUNT: so many people sign up, all of whom wait when the workers, held until then, begin at once
queue() {
    local pids code
    pids=$(for id in $(containers face-matching-worker); do field '{{.State.Pid}}' "$id"; done)
    # shellcheck disable=SC2086
    kill -STOP $pids || return 1
    crowd "$1"
    code=$?
    # shellcheck disable=SC2086
    kill -CONT $pids
    return $code
}

# survives SERVICE: killed while a crowd signs up, of whom nobody is lost and nobody is told twice. It is killed by the host's
# signal, as `docker kill` counts as a stop by hand, after which nothing restarts; and no command is waited for in between,
# which a busy machine may take as long for as the workers for the crowd.
survives() {
    local seen='{{.Id}} {{.State.Pid}} {{.RestartCount}}' victim busy id pid restarts workers=() before=()
    mapfile -t workers < <(containers face-matching-worker | xargs docker inspect -f "$seen")
    mapfile -t before < <(for worker in "${workers[@]}"; do processor_ticks "$worker"; done)
    victim=$(containers "$1" | head -n 1 | xargs docker inspect -f "$seen")
    queue 16 || return 1
    until_true 30 somebody_works || { echo "nobody began"; return 1; }
    [ "$1" != face-matching-worker ] || victim=$busy
    read -r id pid restarts <<<"$victim"
    kill -KILL "$pid" && until_true 60 restarted "$id" "$restarts" || { echo "$1 was not started again"; return 1; }
    crowd_is_served
}
# Sixteen sign-ups take nine seconds of processor time: after a tenth of one, most of them still wait.
somebody_works() {
    local i
    for i in "${!workers[@]}"; do
        busy=${workers[i]}
        [ $(($(processor_ticks "$busy") - before[i])) -lt 10 ] || return 0
    done
    return 1
}
processor_ticks() { # processor_ticks "ID PID …"
    local pid stat
    read -r _ pid _ <<<"$1"
    read -ra stat <"/proc/$pid/stat" && echo $((stat[13] + stat[14]))
}

# All at once, as when a machine is taken away: each has its own time to end.
stops_in_time() {
    local service id
    for id in $(for service in "${services[@]}"; do containers "$service"; done); do docker stop -t "$(field '{{.Config.StopTimeout}}' "$id")" "$id" >/dev/null & done
    wait
    for service in "${services[@]}"; do
        for id in $(containers "$service"); do
            [ "$(field '{{.State.ExitCode}}' "$id")" = 0 ] || { echo "$service ended with $(field '{{.State.ExitCode}}' "$id")"; docker logs --tail 5 "$id"; return 1; }
        done
    done
    compose up -d --no-build --wait --wait-timeout 120 --scale face-matching-worker=2
}

hardened() {
    local service
    for service in redis postgres "${services[@]}" fcm-emulator prometheus alertmanager; do containers "$service"; done | xargs docker inspect >"$scratch/containers" || return 1
    # No secret is in an environment, where every child and every crash report has it.
    jq -r --arg password "$(cut -c 1-24 secrets/postgres-password)" --arg key "$(cut -c 1-24 secrets/lookup-keys)" --arg own "${services[*]} fcm-emulator" '.[] |
        .Config.Labels["com.docker.compose.service"] as $service | .HostConfig as $host | (.Config.Env | join(" ")) as $environment |
        (if $host.ReadonlyRootfs then empty else "can write to its root" end),
        (if $host.CapDrop == ["ALL"] then empty else "keeps capabilities" end),
        (if $host.Memory > 0 then empty else "has no limit of memory" end),
        (if $host.PidsLimit > 0 then empty else "has no limit of processes" end),
        (if any($host.SecurityOpt[]; startswith("no-new-privileges")) then empty else "may gain privileges" end),
        (if ($environment | contains($password)) or ($environment | contains($key)) then "has a secret in its environment" else empty end),
        (if any($own | split(" ")[]; . == $service) and .Config.User != "10001:10001" then "runs as \(.Config.User)" else empty end)
        | "\($service) \(.)"' "$scratch/containers" >"$scratch/faults" || return 1
    cat "$scratch/faults"
    echo "= $(jq length "$scratch/containers") containers"
    [ ! -s "$scratch/faults" ]
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

# What is only there where FCM_CANARY or Firebase is set up, when a limit is reached, or when an account is erased, exported or reported.
seldom='push_fcm_up|push_installation_rate_waits_total|push_install_claims_total|firebase_tokens_total|device_proofs_total|sign_in_confirmations_total|firebase_key_fetches_total'
seldom+='|ekyc_admission_refusals_total|sign_in_brakes_total|code_brakes_total|http_waits_refused_total|erasure_seconds_bucket|account_exports_total'
seldom+='|retention_step_failures_total|retention_step_items_total|reports_total'

# Every expression of every dashboard gives at least one line, but for that and what only pictures and pushes that fail have.
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
        done < <(jq -r '.panels[].targets[]?.expr | select(contains("image_jobs_ended_total{status=\"failed\"}") or contains("outcome!~") | not)' "$file" | grep -vE "$seldom")
    done
    [ ! -s "$scratch/empty" ]
}
metrics_are_exported() { until_true 30 no_metric_is_missing || { cat "$scratch/missing"; return 1; }; }
no_metric_is_missing() {
    local name
    : >"$scratch/missing"
    prometheus_api label/__name__/values | jq -r '.data[]' | sort >"$scratch/names"
    for name in $(cat deploy/grafana/dashboards/*.json deploy/prometheus/rules/*.yml | grep -oE '\b(bus|http|ekyc|image|topic|push|redis|process|mail|mails|erasures|sealed|readiness)_[a-z_]+\b' | sort -u | grep -vxE "$seldom"); do
        grep -qE "^$name(_total|_bucket|_sum|_count)?$" "$scratch/names" || echo "nobody exports $name" >>"$scratch/missing"
    done
    [ ! -s "$scratch/missing" ]
}

grafana_image=$(sed -n 's/^ *image: \(grafana.*\)/\1/p' docker-compose.yml)
grafana_shows_dashboards() {
    compose up -d --no-build --wait --wait-timeout 120 grafana && [ "$(curl -sS --fail --max-time 10 "http://127.0.0.1:$GRAFANA_PORT/api/search?type=dash-db" | jq length)" -eq "$(find deploy/grafana/dashboards -name '*.json' | wc -l)" ]
}

firing() { curl -sS --max-time 5 "http://127.0.0.1:$ALERTMANAGER_PORT/api/v2/alerts" | jq -e --arg name "$1" --arg service "$2" 'any(.[]; .labels.alertname == $name and .labels.service == $service)' >/dev/null; }
alert_fired() {
    until_true 150 firing ServiceDown image-worker || { prometheus_api alerts | jq -c '.data.alerts[]'; return 1; }
    compose up -d --no-build --wait --no-recreate image-worker
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

# What an image holds, and the memory of its container (without files that can be read again) before it has done anything. Of it
# its own are pages that nobody else has and that cannot be read again; the binary's pages are what is mapped from it.
sizes() {
    local service id
    printf '      %-22s %8s %14s %10s %16s\n' service image "idle memory" "its own" "pages of files"
    for service in "${services[@]}"; do
        id=$(containers "$service" | head -n 1)
        printf '      %-22s %5d MB %14s %10s %16s\n' "$service" "$(($(docker image inspect -f '{{.Size}}' "heliograph/$service") / 1000000))" \
            "$(docker stats --no-stream --format '{{.MemUsage}}' "$id" | cut -d / -f 1 | tr -d ' ')" \
            "$(awk '/^Anonymous:/ { printf "%d MiB", $2 / 1024 }' "/proc/$(field '{{.State.Pid}}' "$id")/smaps_rollup" 2>/dev/null)" \
            "$(awk '/^Rss:/ { rss = $2 } /^Anonymous:/ { printf "%d MiB", (rss - $2) / 1024 }' "/proc/$(field '{{.State.Pid}}' "$id")/smaps_rollup" 2>/dev/null)"
    done
}

# Sessions that workers of one thread decide in a second, from a queue that is there before they begin: by the first 24 of 32, as at
# the end one of two may have more left than the other, and then works alone. Each worker may use a quarter of the machine: with two
# that have a core each, a machine of two cores would measure what Postgres and Redis take from them.
sessions_per_second() { # sessions_per_second WORKERS
    local worker
    FACE_ENGINE_THREADS=1 compose up -d --no-build --wait --wait-timeout 120 --scale "face-matching-worker=$1" face-matching-worker >/dev/null 2>&1 || return 1
    for worker in $(containers face-matching-worker); do
        docker update --cpus "$(awk -v cores="$(nproc)" 'BEGIN { print cores < 4 ? cores / 4 : 1 }')" "$worker" >/dev/null || return 1
    done
    queue 32 >/dev/null && until_true 120 crowd_is_decided &&
        sql "SELECT 24 / extract(epoch FROM (array_agg(completed_at ORDER BY completed_at))[24] - min(started_at)) FROM sessions WHERE id IN ($(crowd_ids)) AND state = 'succeeded'"
}

# What else runs on this machine stands back while containers of our own engine are measured, by control groups of version 1 or 2.
preferred() { # preferred COMMAND…
    local file before='' code
    [ "$DOCKER_HOST" = "unix://$root/.cache/verify/docker/docker.sock" ] || { "$@"; return; }
    for file in /sys/fs/cgroup/cpu/docker/cpu.shares /sys/fs/cgroup/docker/cpu.weight; do
        [ -w $file ] || continue
        before=$(cat $file)
        case $file in *shares) echo 262144 >$file ;; *) echo 10000 >$file ;; esac
        break
    done
    "$@"
    code=$?
    [ -z "$before" ] || echo "$before" >$file
    return $code
}

# There are two tries: other machines may share the cores of this one.
two_workers_do_twice_the_work() {
    local one two
    for _ in 1 2; do
        one=$(sessions_per_second 1) && two=$(sessions_per_second 2) || return 1
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
step "tools" deploy/verify/tools.sh docker || exit $failed
images=(compile)
if [ "${DIST:-}" = ready ]; then
    images=()
    [ -x dist/out/identity-api ] || { result FAIL "DIST=ready, but there are no binaries in dist/out: run 'make dist'"; exit 1; }
fi
step "room on the disk" there_is_room || exit $failed
step "a Docker Engine and the images it starts from" deploy/verify/docker-up.sh "${images[@]}" || exit $failed
# shellcheck disable=SC1091
. .cache/verify/docker/docker.env
if [ "${DIST:-}" = ready ]; then result SKIP "the services compile in a container" "DIST=ready: the binaries in dist/out are taken"; else
    echo "      compiling, which takes minutes where it is not done yet"
    step "the services compile in a container" compiles || exit 1
fi
step "one command to the demo's pushes (deploy/docker/demo.sh)" one_command || exit 1
step "the links that it prints open" links_open
step "sixteen people sign up at once, served by four distinct consumers" four_consumers
step "the rest of the API: orders, topics, chat, receipts, a phone that is gone" rest_of_the_api
step "pictures as phones write them are decoded by both workers" pictures_of_phones
step "containers are hardened" hardened
step "Prometheus sees every replica" targets_are_up
step "every figure of dashboards and alerts is exported" metrics_are_exported
step "every expression of the dashboards can be asked" dashboards_have_data
if docker image inspect "$grafana_image" >/dev/null 2>&1 || docker pull -q "$grafana_image" >/dev/null 2>&1; then step "Grafana shows every dashboard" grafana_shows_dashboards; else
    result SKIP "Grafana shows every dashboard" "no registry gives $grafana_image; lint.sh checks its provisioning, the steps above its expressions"
fi
step "a service that crashes leaves a backtrace and comes back" crash_leaves_backtrace
# An alert takes its time; what is killed meanwhile does without image-worker.
compose stop image-worker >/dev/null 2>&1
step "a face-matching-worker killed at work: nothing is lost" survives face-matching-worker
step "Redis killed at work: nothing is lost" survives redis
step "Postgres killed at work: nothing is lost" survives postgres
step "a service that is down is told of" alert_fired
step "every service ends in time, with exit code 0" stops_in_time
sizes
if [ "$(nproc)" -ge 2 ]; then step "two face-matching-workers do 1.7 times the work of one" preferred two_workers_do_twice_the_work; else
    result SKIP "two face-matching-workers do 1.7 times the work of one" "this machine has one core"
fi
step "the demo with pictures in an object store (profile s3)" runs_on_s3
[ -n "${KEEP:-}" ] || step "nothing is left" nothing_is_left
printf '%s in %d s\n' "$([ $failed = 0 ] && echo "all passed" || echo "not all passed")" $((SECONDS - began))
exit $failed
