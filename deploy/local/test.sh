#!/usr/bin/env bash
# Runs the tests, one process a module, so that a crash or a busy suite cannot take others with it.
#   test.sh                  all modules
#   test.sh EventBusTests …  these
# Prints each module's failures and its closing line; exits with 1 if any failed.
set -uo pipefail
cd "$(dirname -- "$0")/../.." || exit 1
# Two cores are the reference: more tests at once only take each other's deadlines.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${TEST_WIDTH:-4}
logs=${TEST_LOGS:-.build/test-logs}
# Services that tests start as processes write here as well; what they wrote last time is not this run's.
export TEST_LOGS=$logs
rm -rf "$logs/services"
mkdir -p "$logs/services"

modules=("$@")
if [ ${#modules[@]} -eq 0 ]; then
    for folder in Tests/*Tests; do modules+=("$(basename "$folder")"); done
fi
failed=()
for module in "${modules[@]}"; do
    start=$SECONDS
    if timeout --kill-after=10 1200 swift test --skip-build --filter "^$module\\." >"$logs/$module.log" 2>&1; then
        printf 'ok      %-26s %3d s  %s\n' "$module" $((SECONDS - start)) "$(grep -E 'Test run with' "$logs/$module.log" | tail -n 1)"
        grep -qE 'Test run with [1-9]' "$logs/$module.log" || { echo "FAILED  $module ran no test"; failed+=("$module"); }
    else
        printf 'FAILED  %-26s %3d s\n' "$module" $((SECONDS - start))
        grep -E '✘|error:|Fatal error' "$logs/$module.log" | cut -c1-400 | head -n 40
        failed+=("$module")
    fi
done
if ! deploy/local/grep-logs.sh "$logs"; then failed+=("grep-logs.sh"); fi
total=$(for module in "${modules[@]}"; do cat "$logs/$module.log"; done | grep -oE 'Test run with [0-9]+ tests' | awk '{n += $4} END {print n + 0}')
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]} (logs in $logs)"
    exit 1
fi
echo "Test run with $total tests in ${#modules[@]} modules passed."
