#!/usr/bin/env bash
# Has Schemathesis send generated requests to the running stack ('make up'), and holds the answers to GET /openapi.json: api.sh [EXAMPLES]
# EXAMPLES (default 30) is the number of requests of each operation. Follows the links of the document from answer to request.
# Use it on a stack without data that matter: it sends whatever the document allows.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
run=${HELIOGRAPH_RUN:-"$root/.run"}
binaries=${HELIOGRAPH_BINARIES:-"$root/.build/${CONFIGURATION:-debug}"}
tools=$root/.cache/verify/schemathesis
package=schemathesis==4.32.5
examples=${1:-30}

fail() { printf 'verify-api: %s\n' "$*" >&2; exit 1; }
for command in curl jq python3; do command -v $command >/dev/null || fail "$command is missing: run 'make setup'"; done
[ -s "$run/stack.env" ] || fail "nothing runs here (no $run/stack.env): run 'make up'"
set -a
# shellcheck disable=SC1091
. "$run/stack.env"
set +a

if [ ! -e "$tools/$package" ]; then
    printf '==> fetching %s\n' "$package"
    rm -rf "$tools"
    python3 -m venv "$tools" || fail "python3-venv is missing: run 'make setup'"
    "$tools/bin/pip" install -q --disable-pip-version-check "$package"
    : >"$tools/$package"
fi

# send BEARER OPTION…: what would end the bearer is left out; the tests of identity-api have it.
send() {
    local bearer=$1
    shift
    "$tools/bin/schemathesis" run "$IDENTITY_API_URL/openapi.json" --url "$IDENTITY_API_URL" --header "Authorization: Bearer $bearer" \
        --phases fuzzing,stateful --max-examples "$examples" --request-timeout 90 \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
        --exclude-operation-id eraseAccount --exclude-operation-id endSignIns --exclude-operation-id logOut "$@"
}

user=$(curl -sS --fail -X POST "$FCM_URL/control/firebase/tokens" -d "{\"subject\":\"verify-api-$(date +%s)\"}" | jq -er .id_token)
key=$("$binaries/heliographctl" credentials create --app verify-api --name "run-$(date +%s)" --scope topics:write --scope notify \
    --scope users:erase 2>/dev/null) || fail "heliographctl makes no API key"
failed=0
printf '==> with the token of a user\n'
send "$user" || failed=1
printf '==> with the API key of an app\n'
send "$key" --include-tag "For an app's own server" --include-tag "Events and conversations" || failed=1
exit $failed
