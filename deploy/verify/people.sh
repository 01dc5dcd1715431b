# shellcheck shell=bash disable=SC2154
# What people do with the deployed stack, read by verify.sh: they sign up in a crowd, and use what the demo does not show.
api=http://127.0.0.1:$IDENTITY_API_PORT
fcm=http://127.0.0.1:$FCM_EMULATOR_PORT
photos=$scratch/photos

# The photos are those of the demo's image.
take_photos() {
    local id
    [ ! -d "$photos" ] || return 0
    id=$(docker create heliograph/demo) && docker cp -q "$id:/photos" "$photos" && docker rm "$id" >/dev/null
}

ask() { curl -sS --fail-with-body --max-time 60 "$@"; }
new_phone() { ask -X POST "$fcm/control/tokens" | jq -er .token; }

# sign_up E-MAIL TOKEN: prints the answer's session id.
sign_up() {
    local pose n form=()
    for pose in left right front; do
        for n in 1 2 3; do form+=(-F "${pose}_faces=@$photos/person-a/$pose-$n.jpg;type=image/jpeg"); done
    done
    ask "$api/api/v1/ekyc/upload-photos" -F "fcm_token=$2" -F "email=$1" "${form[@]}" | jq -er .data.session_id
}

# code_of E-MAIL REFERENCE: prints the code of a request, in the mail that names the request's reference.
code_of() {
    local text tries=0
    until text=$(ask "$fcm/control/mails?to=$1&wait=30" | jq -er --arg reference "$2" '.mails[-1].text | select(contains($reference))'); do
        [ $((tries += 1)) -le 90 ] && sleep 1 || return 1
    done
    { grep "^$2 " <<<"$text" || echo "$text"; } | grep -oE '[0-9]{6}' | head -1
}

# prove E-MAIL SESSION: enters the code that was mailed for a sign-up, which makes its account.
prove() {
    local code
    code=$(ask "$fcm/control/mails?to=$1&wait=30" | jq -er '.mails[0].text' | grep -oE '[0-9]{6}' | head -1) || return 1
    ask "$api/v1/auth/verify" -H 'Content-Type: application/json' -d "{\"verification_id\":\"$2\",\"code\":\"$code\"}" >/dev/null
}

# crowd COUNT: so many people sign up, eight at a time; $scratch/crowd then has a line "token session" for each.
crowd() {
    local i running=0 token
    take_photos && : >"$scratch/crowd" || return 1
    for ((i = 0; i < $1; i++)); do
        token=$(new_phone) || return 1
        { session=$(sign_up "crowd-$RANDOM-$i-$(date +%s%N)@example.org" "$token") && echo "$token $session" >>"$scratch/crowd"; } &
        running=$((running + 1))
        [ $((running % 8)) != 0 ] || wait
    done
    wait
    [ "$(wc -l <"$scratch/crowd")" -eq "$1" ] || { echo "only $(wc -l <"$scratch/crowd") of $1 sign-ups were taken"; return 1; }
}

sql() {
    # shellcheck disable=SC2016
    compose exec -T postgres sh -c 'PGPASSWORD=$(cat /run/secrets/postgres-password) exec psql -h 127.0.0.1 -U heliograph -AtqXc "$1"' sh "$1" </dev/null
}
crowd_ids() { cut -d ' ' -f 2 "$scratch/crowd" | sed "s/.*/'&'/" | paste -sd ,; }
crowd_open() { sql "SELECT count(*) FROM sessions WHERE id IN ($(crowd_ids)) AND state IN ('received', 'processing')"; }
crowd_is_decided() { [ "$(crowd_open 2>/dev/null)" = 0 ]; }

# Everybody of the crowd is signed up and has one push, which says so: nobody was lost, nothing happened twice.
crowd_is_served() {
    local token session faults=0 found
    until_true 120 crowd_is_decided || { echo "$(crowd_open) people of the crowd still wait"; return 1; }
    until_true 60 nothing_is_open || { echo "something is still under way a minute later"; return 1; }
    found=$(sql "SELECT count(*) FROM sessions WHERE id IN ($(crowd_ids)) AND state = 'succeeded'")
    [ "$found" = "$(wc -l <"$scratch/crowd")" ] || { echo "$found of $(wc -l <"$scratch/crowd") people are signed up"; faults=1; }
    while read -r token session; do
        found=$(ask "$fcm/control/messages?token=$token&wait=30" |
            jq -r --arg session "$session" '[.messages[].message.data | select(.session_id == $session and .success == "true")] | length')
        [ "$found" = 1 ] || { echo "session $session has $found pushes"; faults=1; }
    done <"$scratch/crowd"
    return $faults
}

nothing_is_open() { [ "$(sql "$open_rows" 2>/dev/null)" = 0 ]; }
open_rows="SELECT (SELECT count(*) FROM sessions WHERE state IN ('received', 'processing'))
    + (SELECT count(*) FROM image_jobs WHERE status IN ('pending', 'processing'))
    + (SELECT count(*) FROM delivery_ledger WHERE state IN ('pending', 'sending'))
    + (SELECT count(*) FROM outbox WHERE state = 'waiting')"

# --- the rest of the API ---------------------------------------------------------------------------------------

# begin_sign_in E-MAIL TOKEN PHOTO: with two photos of the demo beside this one; leaves $session, its address, and its $bearer behind.
begin_sign_in() {
    local answer
    answer=$(ask -D "$scratch/headers" "$api/api/v1/ekyc/login" -F "fcm_token=$2" -F "email=$1" \
        -F "faces=@$3" -F "faces=@$photos/person-a/sign-in-2.jpg" -F "faces=@$photos/person-a/sign-in-3.jpg") || return 1
    session=$api/api/v1/ekyc/sessions/$(jq -er .data.session_id <<<"$answer") || return 1
    bearer=$(tr -d '\r' <"$scratch/headers" | awk 'tolower($1) == "x-session-token:" { print $2 }')
}
decided() { ask "$session?wait=30" -H "Authorization: Bearer $bearer" | jq -r ".data.$1"; } # decided KEY: of the session's record

# sign_in E-MAIL TOKEN: leaves $access, the access token, and $user, whose it is, behind.
sign_in() {
    local answer session bearer
    begin_sign_in "$1" "$2" "$photos/person-a/sign-in-1.jpg" || return 1
    [ "$(decided state)" = succeeded ] || { echo "the sign-in failed"; return 1; }
    # The phone is new to the account.
    answer=$(curl -sS --max-time 60 -X POST "$session/token" -H "Authorization: Bearer $bearer" | jq -er .error.reference) &&
        answer=$(code_of "$1" "$answer") || { echo "no code was mailed for the sign-in"; return 1; }
    answer=$(ask -X POST "$session/token" -H "Authorization: Bearer $bearer" -H 'Content-Type: application/json' -d "{\"code\":\"$answer\"}") ||
        return 1
    access=$(jq -er .access_token <<<"$answer") && user=$(jq -er .user_id <<<"$answer")
}
signed() { ask -H "Authorization: Bearer $access" "$@"; }
json() { signed -H 'Content-Type: application/json' -d "$2" "$1" >/dev/null; }
pushes_reach() { # pushes_reach TOKEN COUNT: within a minute
    [ "$(ask "$fcm/control/messages?token=$1&count=$2&wait=30" | jq '.messages | length')" -ge "$2" ] && return
    echo "a phone has fewer than $2 pushes"
    return 1
}
# add_crowd TOPIC COUNT: members whose ids belong to no account, more than one page of a fan-out has. Invited they would never accept.
add_crowd() {
    sql "WITH crowd AS (INSERT INTO topic_members (topic_id, user_id)
             SELECT id, gen_random_uuid() FROM topics, generate_series(1, $2) WHERE name = '$1' RETURNING topic_id)
         UPDATE topics SET member_count = member_count + $2 WHERE name = '$1'" >/dev/null
}
phone_is_pruned() { [ "$(sql "SELECT count(*) FROM push_installs WHERE user_id = '$1' AND state = 'invalid'")" = 1 ]; }

# Goes through what the demo leaves out: an order whose outcome an app fetches because of its push, receipts, topics, chat,
# and a phone that is gone. Every figure of the dashboards then has something to count.
rest_of_the_api() {
    local email phone session mate mate_access mate_phone mate_session event chat job
    take_photos || return 1
    email=tour-$(date +%s%N)@example.org phone=$(new_phone) mate_phone=$(new_phone) || return 1
    session=$(sign_up "$email" "$phone") && mate_session=$(sign_up "mate-$email" "$mate_phone") && until_true 60 nothing_is_open || return 1
    prove "$email" "$session" && prove "mate-$email" "$mate_session" || { echo "no code was mailed, or it was refused"; return 1; }
    sign_in "mate-$email" "$mate_phone" && mate=$user mate_access=$access && sign_in "$email" "$phone" || return 1
    event=$api/v1/topics/event:tour-$RANDOM$RANDOM chat=$api/v1/topics/conversation:tour-$RANDOM$RANDOM

    job=$(signed "$api/v1/images/process" -F template_id=watercolor -F "image=@$photos/person-a/front-1.jpg" | jq -er .data.job_id) || return 1
    [ "$(signed "$api/v1/images/jobs/$job?wait=60" -H 'X-Client-Trigger: push' | jq -r .data.status)" = completed ] || { echo "no picture was made"; return 1; }
    json "$api/v1/notifications/receipts" "[{\"job_id\":\"$job\",\"event\":\"delivered\"},{\"job_id\":\"$job\",\"event\":\"opened\"}]" || return 1

    # The sign-up, the sign-in and the invitation, which is only pushed while it is open.
    signed -X PUT "$event/members/me" >/dev/null && signed -X PUT "$event/members/$mate" >/dev/null && pushes_reach "$mate_phone" 3 &&
        ask -X PUT "$event/members/me" -H "Authorization: Bearer $mate_access" >/dev/null && add_crowd "${event##*/}" 600 &&
        signed "$event/photos" -F "photo=@$photos/person-a/front-2.jpg" >/dev/null || return 1
    # The photo ten seconds later.
    pushes_reach "$mate_phone" 4 || return 1

    # The mate has accepted an invitation of this owner: a member at once.
    signed -X PUT "$chat/members/me" >/dev/null && signed -X PUT "$chat/members/$mate" >/dev/null && json "$chat/messages" '{"message_id":"m-1","text":"Dinner at eight?"}' &&
        pushes_reach "$mate_phone" 5 || return 1
    ask -X DELETE "$fcm/control/tokens/$mate_phone" >/dev/null && json "$chat/messages" '{"message_id":"m-2","text":"Nine?"}' || return 1
    until_true 30 phone_is_pruned "$mate" || { echo "a phone that is gone is still pushed to"; return 1; }
    json "$chat/messages" '{"message_id":"m-3","text":"Nobody there?"}' || return 1
    signed -X POST "$api/api/v1/auth/logout" >/dev/null && until_true 60 nothing_is_open
}

# Orders a picture of each file of Tests/Field, and signs in with each as one of three photos. They show no face, which is said of a photo
# that is decoded; one that is not would be passed over, because the two others are enough.
pictures_of_phones() {
    local email phone session bearer file job outcome count=0
    take_photos || return 1
    email=field-$(date +%s%N)@example.org phone=$(new_phone) || return 1
    session=$(sign_up "$email" "$phone") && until_true 60 nothing_is_open && prove "$email" "$session" && sign_in "$email" "$phone" || return 1
    for file in Tests/Field/*.heic Tests/Field/*.jpg; do
        job=$(signed "$api/v1/images/process" -F template_id=watercolor -F "image=@$file" | jq -er .data.job_id) || { echo "$file is refused"; return 1; }
        outcome=$(signed "$api/v1/images/jobs/$job?wait=60" | jq -r '.data | .status + " " + (.error.code // "")')
        [ "$outcome" = "completed " ] || { echo "an order of $file: $outcome"; return 1; }
        begin_sign_in "nobody-$count-$email" "$(new_phone)" "$file" && outcome=$(decided reason) || return 1
        [ "$outcome" = no_face ] || { echo "a sign-in with $file: $outcome, where no_face is right"; return 1; }
        count=$((count + 1))
    done
    [ $count -ge 4 ] || { echo "Tests/Field has $count pictures"; return 1; }
    echo "= $count files"
}
