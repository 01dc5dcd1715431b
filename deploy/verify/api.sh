#!/usr/bin/env bash
# Has Schemathesis send generated requests to the running stack ('make up'), and holds the answers to GET /openapi.json:
#   api.sh [EXAMPLES [OPTION…]]
# EXAMPLES (default 30) is the number of requests of each operation; the options are those of 'schemathesis run'. Follows the links of the
# document from answer to request.
# Use it on a stack without data that matter: it sends whatever the document allows.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
run=${HELIOGRAPH_RUN:-"$root/.run"}
binaries=${HELIOGRAPH_BINARIES:-"$root/.build/${CONFIGURATION:-debug}"}
tools=$root/.cache/schemathesis
examples=${1:-30}
options=("${@:2}")

fail() { printf 'verify-api: %s\n' "$*" >&2; exit 1; }
for command in curl jq python3; do command -v $command >/dev/null || fail "$command is missing: run 'make setup'"; done
[ -s "$run/stack.env" ] || fail "nothing runs here (no $run/stack.env): run 'make up'"
set -a
# shellcheck disable=SC1091
. "$run/stack.env"
set +a

"$root/deploy/local/fetch-schemathesis.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# send BEARER OPTION…: what would end the bearer is left out; the tests of identity-api have it.
send() {
    local bearer=$1
    shift
    (cd "$work" && PYTHONPATH=$tools:$root/deploy/verify SCHEMATHESIS_HOOKS=generated_bodies python3 -m schemathesis.cli run "$IDENTITY_API_URL/openapi.json" \
        --url "$IDENTITY_API_URL" --header "Authorization: Bearer $bearer" --phases fuzzing,stateful --max-examples "$examples" --request-timeout 90 \
        --checks no_internal_error,status_code_conformance,content_type_conformance,response_schema_conformance \
        --exclude-operation-id eraseAccount --exclude-operation-id endSignIns --exclude-operation-id logOut "${options[@]}" "$@")
}

user=$(curl -sS --fail -X POST "$FCM_URL/control/firebase/tokens" -d "{\"subject\":\"verify-api-$(date +%s)\"}" | jq -er .id_token)
key=$("$binaries/heliographctl" credentials create --app verify-api --name "run-$(date +%s)" --scope topics:write --scope notify \
    --scope users:erase 2>/dev/null) || fail "heliographctl makes no API key"
VERIFY_TOKENS=$(for _ in 1 2 3 4; do curl -sS --fail -X POST "$FCM_URL/control/tokens" | jq -er .token; done | paste -sd ' ')
VERIFY_TEMPLATES=$(curl -sS --fail "$IDENTITY_API_URL/v1/templates" | jq -er '[.data.templates[].id] | join(" ")')
export VERIFY_TOKENS VERIFY_TEMPLATES
failed=0
printf '==> with the token of a user\n'
send "$user" || failed=1
printf '==> with the API key of an app\n'
send "$key" --include-tag "For an app's own server" --include-tag "Events and conversations" || failed=1
exit $failed
