#!/usr/bin/env bash
# Shows both paths end to end on the running stack ('make up'): somebody signs up with nine photos, signs in with three
# others, and somebody else tries to sign in as them; then the first has one portrait made into six pictures. Every answer,
# state and push is checked; exits with 1 when one differs.
#
# The photos are real portraits in the public domain; deploy/local/fetch-photos.sh says which.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
run=${HELIOGRAPH_RUN:-"$root/.run"}
photos=${HELIOGRAPH_PHOTOS:-"$root/.cache/photos"}
patience=60 # seconds that a session or a push may take
case "${LC_ALL:-${LC_CTYPE:-${LANG:-}}}" in *[Uu][Tt][Ff]*) ;; *) export LC_ALL=C.UTF-8 ;; esac

fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }
for tool in curl jq; do command -v "$tool" >/dev/null || fail "$tool is missing: run 'make setup'"; done
# In a container, where `make up` wrote nothing, the environment says where the stack is.
if [ -s "$run/stack.env" ]; then
    # shellcheck disable=SC1091
    . "$run/stack.env"
elif [ -z "${IDENTITY_API_URL:-}" ] || [ -z "${FCM_URL:-}" ] || [ -z "${INBOX_URL:-}" ]; then
    fail "nothing runs here (no $run/stack.env): run 'make up'"
fi
for pose in left right front; do [ -s "$photos/person-a/$pose-3.jpg" ] || fail "no photos in $photos: run 'make setup'"; done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# --- looks -----------------------------------------------------------------------------------------------------

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m' green=$'\e[32m' red=$'\e[31m' pretty=1
else
    bold='' dim='' off='' green='' red='' pretty=''
fi

# The lines of a text, broken at spaces.
wrapped() { fold -s -w "$1" <<<"$2" | sed 's/ *$//'; }

# Draws a push as a phone's lock screen does: phone_card TITLE BODY TIME MILLISECONDS
phone_card() {
    local width=56 line
    if [ -z "$pretty" ]; then
        printf '    [Heliograph, %s] %s: %s (%s ms)\n\n' "$3" "$1" "$2" "$4"
        return
    fi
    local edge=$'\e[38;2;120;128;150m' sky=$'\e[48;2;38;48;92m' card=$'\e[48;2;226;230;240m\e[38;2;24;27;36m'
    local icon=$'\e[48;2;240;112;26m\e[38;2;255;255;255m' soft=$'\e[38;2;104;110;126m' ink=$'\e[38;2;24;27;36m'
    local bar
    bar=$(printf '─%.0s' $(seq $((width + 4))))
    row() { printf '    %s│%s  %s%s%s  %s%s│%s\n' "$edge" "$sky" "$card" "$1" "$off$sky" "$off" "$edge" "$off"; }
    blank() { printf '    %s│%s%*s%s%s│%s\n' "$edge" "$sky" $((width + 4)) '' "$off" "$edge" "$off"; }
    printf '    %s╭%s╮%s\n' "$edge" "$bar" "$off"
    printf '    %s│%s\e[1;38;2;255;255;255m%*s%*s%s%s│%s\n' "$edge" "$sky" 32 "${3%:*}" $((width + 4 - 32)) '' "$off" "$edge" "$off"
    blank
    row "$(printf ' %s ☀ %s%s %-*s%10s ' "$icon" "$off$card" "$soft" $((width - 16)) Heliograph "$4 ms")"
    row "$(printf '     %s\e[1m%-*s\e[22m' "$ink" $((width - 5)) "$1")"
    while IFS= read -r line; do row "$(printf '     %s%-*s' "$ink" $((width - 5)) "$line")"; done < <(wrapped $((width - 7)) "$2")
    blank
    printf '    %s╰%s╯%s\n\n' "$edge" "$bar" "$off"
}

# --- asking ----------------------------------------------------------------------------------------------------

now_ms() { date +%s%3N; }

# The milliseconds since 1970 of a time stamp such as 2026-11-21T09:30:00.123Z.
stamp_ms() { jq -rn --arg at "$1" '($at[0:19] + "Z" | fromdate) * 1000 + ($at[20:23] | tonumber)'; }

new_phone() { curl -sS --fail-with-body --max-time 10 -X POST "$FCM_URL/control/tokens" | jq -er .token; }

expect() { # expect WHAT WANTED FOUND
    [ "$2" = "$3" ] || fail "$case_name: $1 should be '$2' but is '$3'"
}

table=()

# One case, from the upload to the push:
#   play NAME EVENT WANTED-MESSAGE WANTED-STATE WANTED-TITLE WANTED-BODY TOKEN CURL-ARGUMENTS…
# Leaves session_id and session_token behind.
play() {
    case_name=$1
    local event=$2 wanted_message=$3 wanted_state=$4 wanted_title=$5 wanted_body=$6 token=$7
    shift 7
    local started status session state reason push count title body milliseconds received path
    path=$([ "$event" = sign_up ] && echo upload-photos || echo login)
    printf '%s%s%s\n' "$bold" "$case_name" "$off"

    started=$(now_ms)
    status=$(curl -sS --max-time 60 -o "$scratch/answer" -D "$scratch/headers" -w '%{http_code}' \
        "$IDENTITY_API_URL/api/v1/ekyc/$path" -F "fcm_token=$token" "$@") || fail "$case_name: identity-api does not answer"
    [ "$status" = 200 ] || fail "$case_name: HTTP $status: $(head -c 500 "$scratch/answer")"
    expect "the answer" \
        "{\"success\":true,\"code\":0,\"message\":\"$wanted_message\",\"data\":{\"session_id\":\"…\"}}" \
        "$(jq -c '.data.session_id |= (if type == "string" then "…" else . end)' "$scratch/answer")"
    session_id=$(jq -er .data.session_id "$scratch/answer")
    session_token=$(tr -d '\r' <"$scratch/headers" | awk 'tolower($1) == "x-session-token:" { print $2 }')
    [ -n "$session_token" ] || fail "$case_name: the answer has no X-Session-Token"
    printf '  %-33s%s%s%s %s %s(%s ms)%s\n' "POST /api/v1/ekyc/$path" "$green" "$status" "$off" "$wanted_message" \
        "$dim" $(($(now_ms) - started)) "$off"

    session=$(curl -sS --fail-with-body --max-time $((patience + 15)) -H "Authorization: Bearer $session_token" \
        "$IDENTITY_API_URL/api/v1/ekyc/sessions/$session_id?wait=$patience") || fail "$case_name: no session state: $session"
    state=$(jq -r .data.state <<<"$session")
    reason=$(jq -r '.data.reason // empty' <<<"$session")
    expect "the session's state" "$wanted_state" "$state${reason:+ ($reason)}"
    printf '  %-33s%s%s%s\n' "session state" "$([ "$state" = succeeded ] && echo "$green" || echo "$red")" \
        "$state${reason:+ ($reason)}" "$off"

    push=$(curl -sS --fail-with-body --max-time $((patience + 15)) \
        "$FCM_URL/control/messages?token=$token&wait=$patience") || fail "$case_name: the emulator does not answer: $push"
    push=$(jq -c --arg session "$session_id" '[.messages[] | select(.message.data.session_id == $session)]' <<<"$push")
    count=$(jq length <<<"$push")
    expect "the number of pushes" 1 "$count"
    title=$(jq -r '.[0].message.notification.title' <<<"$push")
    body=$(jq -r '.[0].message.notification.body' <<<"$push")
    received=$(jq -r '.[0].received_at' <<<"$push")
    milliseconds=$(($(stamp_ms "$received") - started))
    expect "the push's title" "$wanted_title" "$title"
    expect "the push's body" "$wanted_body" "$body"
    expect "the push's data" \
        "$(jq -cn --arg event "$event" --arg success "$([ "$state" = succeeded ] && echo true || echo false)" \
            '{event: $event, success: $success, keys: ["event", "session_id", "success", "user_id"]}')" \
        "$(jq -c '.[0].message.data | {event, success, keys: (keys - ["notificationId", "type", "v"])}' <<<"$push")"
    user_id=$(jq -er '.[0].message.data.user_id' <<<"$push") || fail "$case_name: the push names no user"
    phone_card "$title" "$body" "$(date -d "$received" +%H:%M:%S)" "$milliseconds"
    table+=("$case_name" "$status $wanted_message" "$state${reason:+ ($reason)}" "$title: $body" "$milliseconds")
}

# --- the three cases -------------------------------------------------------------------------------------------

email="demo-$(date +%s)-$RANDOM@example.com"
phone_a=$(new_phone) || fail "the emulator at $FCM_URL does not answer: run 'make up'"
phone_a_again=$(new_phone)
phone_b=$(new_phone)

nine=()
for pose in left right front; do
    for n in 1 2 3; do nine+=(-F "${pose}_faces=@$photos/person-a/$pose-$n.jpg;type=image/jpeg"); done
done
three() { for n in 1 2 3; do printf '%s\n' -F "faces=@$photos/$1/sign-in-$n.jpg;type=image/jpeg"; done; }
mapfile -t same < <(three person-a)
mapfile -t other < <(three person-b)

# Proves an e-mail address by the code that is mailed to it, and sets $enrolment to the token that a sign-up needs.
verify_email() { # verify_email EMAIL
    case_name="0. A proves an e-mail address"
    printf '%s%s%s\n' "$bold" "$case_name" "$off"
    local id code mail json='Content-Type: application/json'
    id=$(curl -sS --fail-with-body --max-time 15 -H "$json" "$IDENTITY_API_URL/v1/auth/register" -d "{\"email\":\"$1\"}" |
        jq -er .data.verification_id) || fail "$case_name: no verification"
    mail=$(curl -sS --fail-with-body --max-time $((patience + 15)) "$FCM_URL/control/mails?to=$1&wait=$patience" |
        jq -cer '.mails[0]') || fail "$case_name: no mail came"
    code=$(jq -r .text <<<"$mail" | grep -oE '[0-9]{6}' | head -1)
    expect "the mail's subject" "$code is your code" "$(jq -r .subject <<<"$mail")"
    enrolment=$(curl -sS --fail-with-body --max-time 15 -H "$json" "$IDENTITY_API_URL/v1/auth/verify" \
        -d "{\"verification_id\":\"$id\",\"code\":\"$code\"}" | jq -er .data.enrolment_token) || fail "$case_name: no token"
    printf '  %-33s%s202%s\n  %-33s%s\n  %-33s%s200%s an enrolment token\n\n' "POST /v1/auth/register" "$green" "$off" \
        "mail" "$(jq -r '"to \(.to[0]): \(.subject)"' <<<"$mail")" "POST /v1/auth/verify" "$green" "$off"
}

printf '\n'
verify_email "$email"
play "1. A signs up" sign_up "Photos uploaded successfully" succeeded \
    "eKYC Sign Up" "Face registration completed successfully." "$phone_a" -H "Authorization: Bearer $enrolment" "${nine[@]}"
enrolled=$user_id

play "2. A signs in" sign_in "Login event published successfully" succeeded \
    "eKYC Sign In" "Face verification successful." "$phone_a_again" -F "email=$email" "${same[@]}"
expect "the push's user" "$enrolled" "$user_id"

# Only the session's own device can turn the success into a login; a repetition is the same login.
redeem() {
    curl -sS --max-time 15 -o "$scratch/token" -w '%{http_code}' -X POST -H "Authorization: Bearer $1" \
        "$IDENTITY_API_URL/api/v1/ekyc/sessions/$session_id/token"
}
stolen=$(redeem nonsense)
case $stolen in 401 | 403 | 404) ;; *) fail "$case_name: a stranger's token request got HTTP $stolen" ;; esac
expect "the token request's answer" 200 "$(redeem "$session_token")"
expect "the token's user" "$enrolled" "$(jq -r '.user_id // .data.user_id' "$scratch/token")"
access=$(jq -er '(.access_token // .data.access_token) | select(length >= 32)' "$scratch/token") || fail "$case_name: no access token"
again=$(redeem "$session_token")
expect "the repeated request's token" "$access" "$(jq -r '.access_token // .data.access_token' "$scratch/token")"
printf '  %-33s%s200%s an access token for user %s\n%35sa stranger gets %s, a second try %s\n\n' \
    "POST /sessions/{id}/token" "$green" "$off" "$enrolled" "" "$stolen" "$again with the same token"

play "3. B tries as A" sign_in "Login event published successfully" "failed (no_match)" \
    "eKYC Sign In" "Face verification failed. Please try again." "$phone_b" -F "email=$email" "${other[@]}"

# Nobody gets a second push, not even later.
for token in "$phone_a" "$phone_a_again" "$phone_b"; do
    case_name="all cases"
    expect "the number of pushes to a phone" 1 "$(curl -sS "$FCM_URL/control/messages?token=$token" | jq '.messages | length')"
done

# --- the table -------------------------------------------------------------------------------------------------

print_table() { # five columns, as wide as their widest cell
    local cells=("case" "HTTP answer" "session state" "push" "ms" "${table[@]}") widths=(0 0 0 0 0) i column format
    for i in "${!cells[@]}"; do
        column=$((i % 5))
        [ ${#cells[i]} -le "${widths[column]}" ] || widths[column]=${#cells[i]}
    done
    format="%-${widths[0]}s  %-${widths[1]}s  %-${widths[2]}s  %-${widths[3]}s  %${widths[4]}s"
    for ((i = 0; i < ${#cells[@]}; i += 5)); do
        # shellcheck disable=SC2059
        printf "%s$format%s\n" "$([ "$i" = 0 ] && printf %s "$bold")" "${cells[@]:i:5}" "$([ "$i" = 0 ] && printf %s "$off")"
    done
}
print_table
printf '\nms: from the request to the push. All three as they must be.\n\n'

# shellcheck source=deploy/local/demo-images.sh
. "$root/deploy/local/demo-images.sh"
# The phone above shows the last of them; here is each.
while read -r at text; do printf '  %s  %s\n' "$(date -d "$at" +%H:%M:%S)" "$text"; done < <(
    jq -r '.[] | "\(.received_at) \(.message.notification.title): \(.message.notification.body)"' <<<"$pushes")
printf '\nSee the pushes on a phone: %s\nWhat the API takes:        %s\n' "$INBOX_URL" "${API_PAGE_URL:-$IDENTITY_API_URL/}"
if [ -n "${GRAFANA_URL:-}" ] && curl -sS --fail --max-time 5 -o /dev/null "$GRAFANA_HEALTH_URL" 2>/dev/null; then
    printf 'What it does just now:     %s\n' "$GRAFANA_URL"
fi
