#!/usr/bin/env bash
# Runs the tests, one process a module, so that a crash or a busy suite cannot take others with it.
#   test.sh                  all modules
#   test.sh EventBusTests …  these
#   test.sh EventBusTests@valkey …  these, on Valkey instead of Redis
#   STATEMENTS=1 test.sh …          these, and then StatementCoverageTests, as with all modules
# Prints each module's failures and its closing line; exits with 1 if any failed.
#
# TEST_MODULES_AT_ONCE modules (2) of up to TEST_WIDTH tests (4) each run at once. The reference are two cores, which eight tests do not
# fill: most wait for servers and processes as much as they compute, and a test's deadlines are those of a stalled machine. More only take
# each other's time: use 1 and 2 where something else runs. The test bundle is run itself: `swift test --skip-build` reads the package and
# the bundle again for each module, which takes 10 to 20 seconds of two cores.
set -uo pipefail
cd "$(dirname -- "$0")/../.." || exit 1
modules_at_once=${TEST_MODULES_AT_ONCE:-2}
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${TEST_WIDTH:-4}
logs=${TEST_LOGS:-.build/test-logs}
# Services that tests start as processes write here as well; what they wrote last time is not this run's.
export TEST_LOGS=$logs NO_COLOR=1
# Swift Testing keeps a backtrace of each error that is thrown, also of those that a test expects. In a debug build that was half of the
# processor time of IdentityAPITests, and no output of ours shows it.
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0
rm -rf "$logs/services" "$logs"/*.failed
mkdir -p "$logs/services"
mapfile -t bundles < <(find .build/debug/ -maxdepth 1 -name '*.xctest' 2>/dev/null)
[ ${#bundles[@]} -le 1 ] || { echo "there are several test bundles, remove all but one: ${bundles[*]}" >&2; exit 1; }
bundle=${bundles[0]:-}
[ -x "$bundle" ] || { echo "there is no test bundle: run swift build --build-tests" >&2; exit 1; }

modules=("$@")
if [ ${#modules[@]} -eq 0 ]; then
    STATEMENTS=1
    # The longest first, so that no core waits for the last one. Those that start many processes run beside each other: Linux shares the
    # processor by sessions, so that a module of one process gets little beside them (65 s of MobileClientTests took 500).
    modules=(FaultTests EndToEndTests MobileClientTests IdentityAPITests PushTests EventBusTests NotifierTests)
    for folder in Tests/*Tests; do
        [[ " ${modules[*]} " == *" $(basename "$folder") "* ]] || modules+=("$(basename "$folder")")
    done
    # What speaks to Redis runs on Valkey as well.
    modules+=(EventBusTests@valkey RedisClientTests@valkey)
fi

# What the tests send as the role of a service is recorded by their servers, which run as another user when this runs as root.
if [ -n "${STATEMENTS:-}" ]; then
    records=$(mktemp -d) && chmod 777 "$records" || exit 1
    trap 'rm -rf "$records"' EXIT
    export HELIOGRAPH_STATEMENTS=$records
fi

# Ends all processes of a session. Servers of tests end with the bundle; what else is left after three seconds is killed.
end_session() {
    pgrep -s "$1" >/dev/null || return 0
    kill -- "-$1" 2>/dev/null
    for _ in {1..30}; do
        pgrep -s "$1" >/dev/null || return 0
        sleep 0.1
    done
    pkill -KILL -s "$1"
}

# Runs a module in a session of its own, and prints its result at its end, in one piece.
run() {
    local module=$1 start=$SECONDS log="$logs/$1.log" session='' code
    trap '[ -z "$session" ] || end_session "$session"; exit 143' TERM
    [[ $module != *@valkey ]] || export REDIS_SERVER=$PWD/.cache/valkey/valkey-server
    setsid timeout --kill-after=10 1200 "$bundle" --testing-library swift-testing --filter "^${module%@*}[./]" >"$log" 2>&1 &
    session=$!
    wait "$session"
    code=$?
    end_session "$session"
    # Without a test the bundle ends with 69; a module of that name that has none is a mistake.
    if [ $code -eq 0 ] && grep -qE 'Test run with [1-9]' "$log"; then
        printf 'ok      %-26s %3d s  %s\n' "$module" $((SECONDS - start)) "$(grep -E 'Test run with' "$log" | tail -n 1)"
    else
        touch "$logs/$module.failed"
        printf 'FAILED  %-26s %3d s  exit code %d\n%s\n' "$module" $((SECONDS - start)) $code \
            "$(grep -E '✘|error:|Fatal error' "$log" | cut -c1-400 | head -n 40)"
    fi
}

# What runs in the background ignores Ctrl-C.
# shellcheck disable=SC2046
trap 'trap "" INT TERM; kill -- $(jobs -p) 2>/dev/null; wait; exit 130' INT TERM
for module in "${modules[@]}"; do
    while [ "$(jobs -pr | wc -l)" -ge "$modules_at_once" ]; do wait -n; done
    run "$module" &
done
wait
# A test that failed has recorded less than all.
if [ -n "${STATEMENTS:-}" ] && ! compgen -G "$logs/*.failed" >/dev/null; then
    unset HELIOGRAPH_STATEMENTS
    export HELIOGRAPH_STATEMENTS_RECORDED=$logs/statements.tsv
    find "$records" -name '*.tsv' -exec cat {} + | LC_ALL=C sort -u >"$HELIOGRAPH_STATEMENTS_RECORDED"
    export HELIOGRAPH_STATEMENTS_PREPARED=$logs/statements.prepared
    find "$records" -name '*.prepared' -exec cat {} + | LC_ALL=C sort -u >"$HELIOGRAPH_STATEMENTS_PREPARED"
    for suite in StatementCoverageTests StatementPlanTests; do
        modules+=("StorageTests.$suite")
        run "StorageTests.$suite" &
    done
    wait
fi
failed=()
for module in "${modules[@]}"; do [ -e "$logs/$module.failed" ] && failed+=("$module"); done
if ! deploy/local/grep-logs.sh "$logs"; then failed+=("grep-logs.sh"); fi
total=$(for module in "${modules[@]}"; do cat "$logs/$module.log"; done | grep -oE 'Test run with [0-9]+ tests' | awk '{n += $4} END {print n + 0}')
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]} (logs in $logs)"
    exit 1
fi
echo "Test run with $total tests in ${#modules[@]} modules passed in $SECONDS s."
