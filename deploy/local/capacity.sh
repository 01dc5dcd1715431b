#!/usr/bin/env bash
# Measures what one of each thing that people do costs: processor time of each service, of Postgres and of Redis, on the
# running stack ('FACE_REPLAY_CHECK=files EKYC_IN_FLIGHT_PER_ADDRESS=0 EKYC_FIRST_SECONDS_PER_ADDRESS=0
# EKYC_FIRST_SECONDS_PER_ACCOUNT=0 EKYC_SECONDS_PER_ADDRESS=0 make up', because all comes from one address; better with release binaries). Prints a table and leaves the reports in .run/capacity.
#   capacity.sh [SECONDS [PER-SECOND]]
# Processor time hardly depends on what else the machine does, as latencies do; what the services use when idle is taken off.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
run=${HELIOGRAPH_RUN:-"$root/.run"}
binaries=${HELIOGRAPH_BINARIES:-"$root/.build/${CONFIGURATION:-debug}"}
seconds=${1:-60} per_second=${2:-1}
idle_seconds=15
processes=(identity-api face-matching-worker image-worker token-registry notifier postgres redis)

fail() { printf 'capacity: %s\n' "$*" >&2; exit 1; }
command -v jq >/dev/null || fail "jq is missing: run 'make setup'"
[ -s "$run/stack.env" ] || fail "nothing runs here (no $run/stack.env): run 'make up'"
# shellcheck disable=SC1091
. "$run/stack.env"
[ -x "$binaries/heliograph-load" ] || fail "$binaries/heliograph-load is not built: run 'make build'"
mkdir -p "$run/capacity"

pid_of() { cut -d ' ' -f 1 "$run/pids/$1"; }

# Processor time of a process so far, in milliseconds; of Postgres with all its children, those that have ended included.
cpu_ms() {
    local pid ticks
    pid=$(pid_of "$1")
    if [ "$1" = postgres ]; then
        ticks=$(for each in "$pid" $(pgrep -P "$pid"); do sed 's/.*) //' "/proc/$each/stat" 2>/dev/null || true; done |
            awk -v parent="$pid" '{ sum += $12 + $13; if (NR == 1) sum += $14 + $15 } END { print sum }')
    else
        ticks=$(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }')
    fi
    echo $((ticks * 1000 / $(getconf CLK_TCK)))
}

snapshot() { # of all processes and of the clock, in milliseconds
    local name
    for name in "${processes[@]}"; do cpu_ms "$name"; done
    date +%s%3N
}

printf 'idle for %s s …\n' "$idle_seconds" >&2
mapfile -t idle_before < <(snapshot)
sleep "$idle_seconds"
mapfile -t idle_after < <(snapshot)

# Runs a load of one kind, and prints the milliseconds of each process for one of it.
cost() {
    local kind=$1 line i used elapsed idle count before=() after=()
    exec 3< <("$binaries/heliograph-load" --url "$IDENTITY_API_URL" --fcm-emulator "$FCM_URL" --photos "$root/.cache/photos" \
        --rate "$per_second/s" --duration "${seconds}s" --warm-up 0s --arrivals constant --mix "$kind" --errors-max 5% --json \
        2>&1 >"$run/capacity/$kind.json")
    while IFS= read -r line <&3; do
        case $line in
            Begins.) mapfile -t before < <(snapshot) ;;
            "Cleaning up.") mapfile -t after < <(snapshot) ;;
            *) printf '%s: %s\n' "$kind" "$line" >&2 ;;
        esac
    done
    exec 3<&-
    [ ${#after[@]} -gt 0 ] || fail "$kind: the load did not run"
    count=$(jq '.kinds[0].succeeded' "$run/capacity/$kind.json")
    [ "$count" -gt 0 ] || fail "$kind: nothing succeeded"
    elapsed=$((after[-1] - before[-1]))
    printf '%s %s' "$kind" "$count"
    for i in "${!processes[@]}"; do
        idle=$(((idle_after[i] - idle_before[i]) * elapsed / (idle_after[-1] - idle_before[-1])))
        used=$((after[i] - before[i] - idle))
        awk -v used="$used" -v count="$count" 'BEGIN { printf " %.1f", used / count }'
    done
    echo
}

{
    printf 'milliseconds-of-processor count'
    printf ' %s' "${processes[@]}"
    printf '\nidle,-a-second –'
    for i in "${!processes[@]}"; do
        awk -v used=$((idle_after[i] - idle_before[i])) -v time=$((idle_after[-1] - idle_before[-1])) \
            'BEGIN { printf " %.1f", used * 1000 / time }'
    done
    echo
    for kind in sign-in sign-up image upload; do cost "$kind"; done
} | column -t
