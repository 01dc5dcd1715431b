#!/usr/bin/env bash
# Repeats the tests beside two busy loops, and counts which fail: a test that fails in one run of ten depends on the speed of the machine.
#   test-repeat.sh TIMES             all modules
#   test-repeat.sh TIMES MailTests … these, as test.sh takes them
# Goes on after a failure. Prints a line a run, and at the end how many failed, and each failed test with the number of its runs.
# The logs of each run stay in REPEAT_LOGS/<run> (.build/test-repeat). Exits with 1 if any run failed.
set -uo pipefail
cd "$(dirname -- "$0")/../.." || exit 1
times=${1:-10}
[[ $times =~ ^[1-9][0-9]*$ ]] || { echo "the number of runs is a whole number from 1, not: $times" >&2; exit 64; }
shift
logs=${REPEAT_LOGS:-.build/test-repeat}
rm -rf "$logs"
mkdir -p "$logs"
loops=() runs=0 failed=0 test=''

# Takes a core, and ends with this script, also if that is killed.
busy() {
    trap - EXIT INT TERM
    while kill -0 $$ 2>/dev/null; do for ((i = 0; i < 100000; i++)); do :; done; done
}

# The tests that failed in a run; a module without one, such as a crashed one, by its line.
failures() {
    local folder=$1 module tests
    for marker in "$folder"/*.failed; do
        [ -e "$marker" ] || continue
        module=$(basename "$marker" .failed)
        tests=$(sed -nE 's/^✘ Test ("[^"]*"|[^ ]+) (with [0-9]+ test cases? )?failed after .*/\1/p' "$folder/$module.log" | sort -u)
        sed "s/^/$module: /" <<<"${tests:-no test of it failed: it crashed, or ran out of time}"
    done
    grep -q 'grep-logs.sh' <(grep '^failed: ' "$folder/output") && echo "grep-logs.sh: the services' logs"
}

summary() {
    trap '' INT TERM
    [ -z "$test" ] || { kill "$test" && wait "$test"; } 2>/dev/null
    kill "${loops[@]}" 2>/dev/null
    wait 2>/dev/null
    echo "$failed of $runs runs failed (logs in $logs)"
    cat "$logs"/*/failures 2>/dev/null | sort | uniq -c | sort -rn
}

trap summary EXIT
trap 'exit 130' INT TERM
for _ in 1 2; do
    busy &
    loops+=($!)
done
for ((run = 1; run <= times; run++)); do
    folder=$logs/$run start=$SECONDS
    mkdir -p "$folder"
    TEST_LOGS=$folder deploy/local/test.sh "$@" >"$folder/output" 2>&1 &
    test=$!
    wait "$test"
    code=$?
    test=''
    runs=$run
    failures "$folder" >"$folder/failures"
    # A run that did not even begin has no module that failed.
    if [ $code -ne 0 ]; then
        failed=$((failed + 1))
        [ -s "$folder/failures" ] || echo "test.sh: $(tail -n 1 "$folder/output")" >"$folder/failures"
    fi
    printf 'run %2d of %d  %s  %4d s  %s\n' "$run" "$times" "$([ $code -eq 0 ] && echo ok || echo FAILED)" $((SECONDS - start)) \
        "$(tail -n 1 "$folder/output")"
done
[ "$failed" -eq 0 ]
