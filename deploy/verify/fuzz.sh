#!/usr/bin/env bash
# Fuzzes the parsers of untrusted input with libFuzzer and the address sanitizer: fuzz.sh [build|run|merge]
#   build   compiles the modules of Tools/fuzz/modules.txt and the checks of Tests/FuzzTests into .build-fuzz
#   run     (default) builds, then runs each target for FUZZ_SECONDS (60) with its files of Tests/Corpus as seeds. What is found is kept in
#           .build-fuzz/corpus, for the next run. Prints a line of figures a target; exits with 1 after a crash, a hang or a disagreement.
#   merge   replaces the files of Tests/Corpus that are named by hashes by inputs of both folders: of the fewest that reach the same
#           code, the 20 longest of a target. Files with other names stay: inputs that once failed.
# ONLY="json headers" takes these targets alone.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"
out=.build-fuzz
fuzzer=$out/fuzzer
seconds=${FUZZ_SECONDS:-60}
targets=${ONLY:-multipart json json-stream base64 headers images tokens times challenges proofs emails envelopes answers}
# An input is an upload or an answer in the small: what parsers do at a length of megabytes, the tests of limits show.
max_bytes=4096

fail() { printf 'fuzz: %s\n' "$*" >&2; exit 1; }

compile() {
    local object=$1
    shift
    # As in Package.swift, but for the warnings, which the build of the package makes errors; optimised, which keeps all checks of overflow
    # and bounds.
    swiftc -swift-version 6 -O -g -wmo -parse-as-library -suppress-warnings -package-name heliograph -enable-testing -sanitize=fuzzer,address \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
        -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature InferIsolatedConformances \
        -enable-upcoming-feature NonisolatedNonsendingByDefault \
        -I "$out" -I Shared/C/COpenSSL -c -o "$object" "$@"
}

# is_current OBJECT FILE…: whether the object was made of these files, and is newer than all of them.
is_current() {
    local object=$1 file
    shift
    [ -e "$object" ] && [ "$(cat "$object.files" 2>/dev/null)" = "$*" ] || return 1
    for file in "$@"; do [ "$object" -nt "$file" ] || return 1; done
}

build() {
    mkdir -p "$out"
    [ -d .build/checkouts/swift-http-types ] || swift package resolve
    local name objects=() places files previous=deploy/verify/fuzz.sh
    while read -r name places; do
        case $name in '' | '#'*) continue ;; esac
        # Paths of this repository have no spaces.
        # shellcheck disable=SC2086
        mapfile -t files < <(find $places -name '*.swift' | sort)
        local object=$out/$name.o
        if ! is_current "$object" "${files[@]}" "$previous"; then
            printf '==> compiling %s\n' "$name"
            compile "$object" -module-name "$name" -emit-module -emit-module-path "$out/$name.swiftmodule" "${files[@]}"
            # The compiler leaves an object alone that would not change.
            touch "$object"
            echo "${files[*]} $previous" >"$object.files"
        fi
        objects+=("$object")
        previous=$object
    done <Tools/fuzz/modules.txt
    mapfile -t files < <(find Tests/FuzzTests -name '*.swift' ! -name 'CorpusTests.swift' | sort)
    files+=(Tools/fuzz/Fuzzer.swift)
    if ! is_current "$fuzzer" "${files[@]}" "$previous"; then
        printf '==> compiling the checks\n'
        compile "$out/FuzzTests.o" -module-name FuzzTests "${files[@]}"
        swiftc -sanitize=fuzzer,address -parse-as-library -o "$fuzzer" "$out/FuzzTests.o" "${objects[@]}" -lssl -lcrypto \
            2> >(grep -v 'Cannot export local symbol' >&2)
        echo "${files[*]} $previous" >"$fuzzer.files"
    fi
}

# fuzz TARGET OPTION…: Swift's own backtraces take a minute each, and the sanitizer has one too.
fuzz() {
    local target=$1
    shift
    FUZZ_TARGET=$target SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 "$fuzzer" "$@"
}

run() {
    local target log failed=0 figures
    for target in $targets; do
        log=$out/$target.log
        mkdir -p "$out/corpus/$target" "$out/crashes" "Tests/Corpus/$target"
        if fuzz "$target" "$out/corpus/$target" "Tests/Corpus/$target" -max_total_time="$seconds" -max_len=$max_bytes -timeout=5 \
            -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$out/crashes/$target-" >"$log" 2>&1 </dev/null; then
            figures=$(awk '/DONE/ { line = $0 } END { match(line, /cov: [0-9]+/); printf "%s", substr(line, RSTART, RLENGTH) }' "$log")
            printf 'PASS  %-12s %s executions, %s\n' "$target" \
                "$(awk '/stat::number_of_executed_units/ { print $2 }' "$log")" "${figures/cov:/edges:}"
        else
            failed=1
            local input
            input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
            printf 'FAIL  %-12s %s\n' "$target" "$(grep -m1 -E 'Fatal error|ERROR:' "$log" || tail -1 "$log")"
            printf '      input:     %s\n' "${input:-none; see $log}"
            printf '      reproduce: FUZZ_TARGET=%s SWIFT_BACKTRACE=enable=no %s %s\n' "$target" "$fuzzer" "$input"
        fi
    done
    return $failed
}

merge() {
    local target kept
    for target in $targets; do
        mkdir -p "$out/corpus/$target" "Tests/Corpus/$target"
        kept=$out/merged/$target
        rm -rf "$kept"
        mkdir -p "$kept"
        fuzz "$target" -set_cover_merge=1 -use_counters=0 -max_len=1024 "$kept" "Tests/Corpus/$target" "$out/corpus/$target" >"$out/$target.merge.log" 2>&1 </dev/null ||
            fail "merging $target failed: $out/$target.merge.log"
        find "Tests/Corpus/$target" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
        find "$kept" -type f -printf '%s %p\n' | sort -rn | head -20 | cut -d' ' -f2 | xargs -r cp -t "Tests/Corpus/$target"
        printf '%-12s %s\n' "$target" "$(du -sh "Tests/Corpus/$target" | cut -f1)"
    done
}

# No list with &&, within which a module that does not compile would not end the script.
case ${1:-run} in
    build) build ;;
    run)
        build
        run
        ;;
    merge)
        build
        merge
        ;;
    *) fail "build, run or merge" ;;
esac
