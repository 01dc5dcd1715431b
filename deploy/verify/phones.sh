#!/usr/bin/env bash
# Has mobile-sim's phones live on a stack of its own whose services, Redis and Postgres are killed and frozen all the while.
#   PHONES=1000 MINUTES=30   how many phones, for how long
#   SEED=n                   makes the same plans of phones and of faults again; printed at the start
#   REPORT=folder            report.json, report.html and faults.txt go there (default: .build/phones)
#   BINARIES=folder          the executables (default: .build-release/release); they are copied, so that a build may go on meanwhile
# Exits with 0 when each order and each session ended once on its phone and nothing else of `mobile-sim run --help` was violated.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"
phones=${PHONES:-1000} minutes=${MINUTES:-30} seed=${SEED:-$((SRANDOM % 999999 + 1))}
report=${REPORT:-.build/phones}
built=${BINARIES:-.build-release/release}
services=(token-registry notifier face-matching-worker image-worker identity-api)

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
fail() { printf 'phones: %s\n' "$*" >&2; exit 1; }

[ -x "$built/mobile-sim" ] || fail "$built/mobile-sim is not built: run 'make release'"
mkdir -p "$report"
report=$(cd "$report" && pwd)
work=$(mktemp -d /var/tmp/heliograph-phones.XXXXXX)
export HELIOGRAPH_RUN=$work/run HELIOGRAPH_BINARIES=$work/bin
# A face signs in more than once in the photos at hand: the same photo in other bytes.
export FACE_REPLAY_CHECK=files
stack() { deploy/local/stack.sh "$@"; }
simulation=
finish() {
    trap - EXIT INT TERM
    [ -z "$simulation" ] || kill "$simulation" 2>/dev/null || true
    pkill -CONT -f "^$work/bin/" || true
    stack clean-data >>"$work/stack.log" 2>&1 || true
    rm -rf -- "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

mkdir -p "$work/bin"
for name in "${services[@]}" image-decoder fcm-emulator heliographctl mobile-sim; do cp "$built/$name" "$work/bin/"; done
stack up

# --- faults ----------------------------------------------------------------------------------------------------

pid_of() { cut -d ' ' -f 1 "$HELIOGRAPH_RUN/pids/$1" 2>/dev/null || true; }
note() { printf '%s %s\n' "$(date +%T)" "$*" >>"$report/faults.txt"; }
# shellcheck disable=SC1091
redis() ( . "$HELIOGRAPH_RUN/stack.env"; redis-cli --no-auth-warning -u "$REDIS_URL" "$@" )

# The n-th fault. A service that ended is started again by stack.sh after up to nine seconds, as an orchestrator would.
fault() {
    local name pause=$((RANDOM % 10)) kind=$((RANDOM % 20))
    name=${services[RANDOM % ${#services[@]}]}
    case $kind in
        0) note "FLUSHALL of Redis" && redis FLUSHALL >/dev/null ;;
        1) note "kill -9 redis" && kill -9 "$(pid_of redis)" ;;
        2) note "kill -9 postgres" && pkill -9 -P "$(pid_of postgres)" ;;
        3) note "kill -9 all five services" && for name in "${services[@]}"; do kill -9 "$(pid_of "$name")" || true; done ;;
        4 | 5 | 6)
            local pid
            pid=$(pid_of "$name")
            pause=$((10 + RANDOM % 35))
            note "freeze $name for $pause s"
            kill -STOP "$pid" && sleep "$pause" && kill -CONT "$pid"
            pause=0
            ;;
        *) note "kill -9 $name" && kill -9 "$(pid_of "$name")" ;;
    esac
    sleep "$pause"
    stack up >>"$work/stack.log" 2>&1 || note "stack up failed, and is tried again"
}

: >"$report/faults.txt"
RANDOM=$((seed % 32768))
say "$phones phones for $minutes minutes, seed $seed; faults: $report/faults.txt"
"$work/bin/mobile-sim" run --phones "$phones" --minutes "$minutes" --seed "$seed" --copies --settle 6 \
    --stack "$HELIOGRAPH_RUN" --work "$work" --report "$report" &
simulation=$!
# The last half minute has no new fault: what is under way may end then.
end=$((SECONDS + minutes * 60 - 30))
while [ $SECONDS -lt $end ] && kill -0 "$simulation" 2>/dev/null; do
    sleep $((5 + RANDOM % 20))
    fault || note "the process had ended already"
done
stack up >>"$work/stack.log" 2>&1 || { tail -n 20 "$work/stack.log" >&2; fail "the stack did not come up again"; }
code=0
wait "$simulation" || code=$?
simulation=
say "faults: $(cut -d ' ' -f 2- "$report/faults.txt" | sed 's/ for [0-9]* s$//' | sort | uniq -c | sort -rn | sed 's/^ *//' | paste -sd ';' | sed 's/;/; /g')"
exit "$code"
