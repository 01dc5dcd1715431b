#!/usr/bin/env bash
# Searches the logs of a test run for what no log may hold, and exits with 1 if it finds any.
#   grep-logs.sh FOLDER
# All lines of FOLDER/services/** are services'; of other files those are looked at that a service wrote (they are JSON).
# What a test can choose has the word of Tests/TestSupport/ServiceLogs.swift in it; the rest is known by its shape.
set -uo pipefail
folder=${1:?the folder of the logs}
secrets='unspeakable-7d1f|APA91b|ya29\.|PRIVATE KEY|eyJ[A-Za-z0-9_-]{16,}\.|[Bb]earer [A-Za-z0-9._~+/-]{16,}|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]'

leaks() {
    { find "$1" -path "$1/services/*" -name '*.log' -exec grep -HnE "$secrets" {} +
      find "$1" -path "$1/services" -prune -o -name '*.log' -exec grep -HnE "^\{.*($secrets)" {} +; } 2>/dev/null
}

# A search that cannot find anything finds nothing: each secret is planted once, where it must be seen.
bait=$(mktemp -d) || exit 1
trap 'rm -rf "$bait"' EXIT
mkdir "$bait/services"
planted=0
for secret in 'unspeakable-7d1f' 'cX:APA91bQ' 'ya29.c.x' '-----BEGIN PRIVATE KEY-----' 'eyJhbGciOiJSUzI1NiJ9.e30' \
    'Bearer 0123456789abcdef0' 'ada@example.org'; do
    planted=$((planted + 2))
    printf '{"message":"%s"}\n' "$secret" | tee -a "$bait/services/a.log" >>"$bait/Tests.log"
done
printf 'Test "%s" passed\n' 'ada@example.org' >>"$bait/Tests.log"
if [ "$(leaks "$bait" | wc -l)" -ne "$planted" ]; then
    echo "the search for secrets in logs is broken: it found $(leaks "$bait" | wc -l) of $planted" >&2
    exit 1
fi

looked=$(find "$folder" -name '*.log' 2>/dev/null | wc -l)
found=$(leaks "$folder")
if [ -n "$found" ]; then
    echo "secrets in the logs:" >&2
    # Where, not what: this output is a log too.
    printf '%s\n' "$found" | cut -d: -f1,2 | head -n 20 >&2
    exit 1
fi
echo "no secret in $looked logs ($(find "$folder" -path '*/services/*' -name '*.log' | wc -l) of services)"
