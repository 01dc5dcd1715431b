# shellcheck shell=bash disable=SC2154
# The second half of the demo, read by demo.sh: one portrait in six styles, told by six pushes with a picture. Uses its
# functions, the access token of the person who signed in ($access) and that person's phone ($phone_a_again).

case_name="4. A has pictures made"
portrait=$photos/person-a/front-1.jpg
sheet=$run/contact-sheet.jpg
printf '%s%s%s\n' "$bold" "$case_name" "$off"

authorised() { curl -sS --max-time $((patience + 15)) -H "Authorization: Bearer $access" "$@"; }

mapfile -t templates < <(authorised "$IDENTITY_API_URL/v1/templates" | jq -er '.data.templates[].id')
[ ${#templates[@]} -ge 6 ] || fail "$case_name: there are ${#templates[@]} templates"

# Follows the address of a picture, as a phone does; from inside a container that takes another way.
picture() { curl -sS --max-time 30 ${MEDIA_CONNECT_TO:+--connect-to "$MEDIA_CONNECT_TO"} "$@"; }

# All are asked for at once; whoever asked may forget about them.
jobs=() started=$(now_ms)
for template in "${templates[@]}"; do
    status=$(authorised -o "$scratch/answer" -w '%{http_code}' -H "X-Request-ID: $(cat /proc/sys/kernel/random/uuid)" \
        "$IDENTITY_API_URL/v1/images/process" -F "template_id=$template" -F "image=@$portrait;type=image/jpeg") ||
        fail "$case_name: identity-api does not answer"
    expect "the answer" "202 pending" "$status $(jq -r .data.status "$scratch/answer")"
    jobs+=("$(jq -er .data.job_id "$scratch/answer")")
done
printf '  %-33s%s202%s %s jobs %s(%s ms)%s\n' "POST /v1/images/process" "$green" "$off" "${#jobs[@]}" "$dim" \
    $(($(now_ms) - started)) "$off"

pictures=()
for i in "${!jobs[@]}"; do
    job=$(authorised "$IDENTITY_API_URL/v1/images/jobs/${jobs[i]}?result=url&wait=$patience") || fail "$case_name: no job: $job"
    expect "the job's status (${templates[i]})" completed "$(jq -r '.data.status' <<<"$job")"
    # The address is enough: it is signed, and ends.
    picture --fail -o "$scratch/$i.jpg" "$(jq -er .data.result.image_url <<<"$job")" ||
        fail "$case_name: the picture's address does not lead to it"
    name=$(jq -r .data.result.metadata.templateName <<<"$job")
    printf '  %-33s%scompleted%s %s, %s, %s ms\n' "${templates[i]}" "$green" "$off" \
        "$(jq -r '.data.result.metadata.processedDimensions | "\(.width) × \(.height)"' <<<"$job")" \
        "$(jq -r .data.result.metadata.modelUsed <<<"$job")" "$(jq -r .data.result.metadata.generationTimeMs <<<"$job")"
    pictures+=("$name=$scratch/$i.jpg")
done
"$root/deploy/local/contact-sheet.sh" "$sheet" 4 "Original=$portrait" "${pictures[@]}" || fail "$case_name: no contact sheet"

# One push a job, each with its picture.
for ((deadline = $(now_ms) + patience * 1000; ; )); do
    pushes=$(curl -sS --fail-with-body --max-time 30 "$FCM_URL/control/messages?token=$phone_a_again&wait=1") ||
        fail "$case_name: the emulator does not answer: $pushes"
    pushes=$(jq -c '[.messages[] | select(.message.data.type == "job_completed")]' <<<"$pushes")
    [ "$(jq length <<<"$pushes")" -lt ${#jobs[@]} ] && [ "$(now_ms)" -lt "$deadline" ] || break
done
expect "the jobs that were told" "$(printf '%s\n' "${jobs[@]}" | sort)" "$(jq -r '.[].message.data.jobId' <<<"$pushes" | sort)"
push=$(jq -c 'last' <<<"$pushes")
thumbnail=$(jq -er .message.apns.fcm_options.image <<<"$push") || fail "$case_name: the push has no picture"
expect "the push's picture" "200 image/jpeg" "$(picture -o "$run/thumbnail.jpg" -w '%{http_code} %{content_type}' "$thumbnail")"
expect "the push's title" "Image Ready! 🎨" "$(jq -r .message.notification.title <<<"$push")"
phone_card "$(jq -r .message.notification.title <<<"$push")" "$(jq -r .message.notification.body <<<"$push")" \
    "$(date -d "$(jq -r .received_at <<<"$push")" +%H:%M:%S)" $(($(stamp_ms "$(jq -r .received_at <<<"$push")") - started))
printf '%s pictures, one push each. Side by side: %s\n' "${#jobs[@]}" "$sheet"
