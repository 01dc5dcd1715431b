"""Writes the dashboards in deploy/grafana/dashboards from the list of panels below: make-dashboards.py [--check]

A dashboard's JSON is a thousand lines nobody reads in a review; what matters in it are titles, expressions and units. With
--check nothing is written, and it fails when a file is not what it would write.
"""

import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent / "dashboards"
RATE = "$__rate_interval"

# A row is a title and its panels; a panel is (title, unit, {legend: expression}[, what it says]). Of an age that all instances measure
# on the same table or group, the least one is the newest reading: min.
DASHBOARDS = {
    "house": ("Heliograph: the whole house", [
        ("Doing well?", [
            ("Requests", "reqps", {"{{status}}": f"sum by (status) (rate(http_requests_total[{RATE}]))"}),
            ("Sign-ups and sign-ins decided", "cps", {"{{event}} {{outcome}}": f"sum by (event, outcome) (rate(ekyc_sessions_ended_total[{RATE}]))"}),
            ("Pictures", "cps", {"{{outcome}}": f"sum by (outcome) (rate(image_jobs_ended_total[{RATE}]))"}),
            ("Pushes", "cps", {"{{outcome}}": f"sum by (outcome) (rate(push_deliveries_total[{RATE}]))"}),
        ]),
        ("What waits", [
            ("Messages that no consumer has taken", "short", {"{{stream}}": "max by (stream) (bus_undelivered)"}, "More than 100 for two minutes is an alert, but of pushes in bulk."),
            ("The oldest of them", "s", {"{{stream}}": "max by (stream) (min by (stream, group) (bus_oldest_undelivered_seconds))"}),
            ("Events in the outbox", "short", {"not published": "max(bus_outbox_depth)", "not confirmed": "max(bus_outbox_unconfirmed_depth)"}),
            ("Dead letters", "short", {"{{stream}}": "max by (stream) (bus_dead_letter_depth)"}),
        ]),
        ("Processes", [
            ("Replicas that answer, and are ready", "short", {"{{service}} answers": 'sum by (service) (up{job="heliograph"})', "{{service}} is ready": "sum by (service) (min by (service, instance) (readiness_check_up))"}, "/readyz on the admin port says which check fails, and why."),
            ("Processor", "percentunit", {"{{service}} {{instance}}": f'rate(process_cpu_seconds_total{{job="heliograph"}}[{RATE}])'}, "1 is one core."),
            ("Memory", "bytes", {"{{service}} {{instance}}": 'process_resident_memory_bytes{job="heliograph"}'}),
            ("Redis' memory", "percentunit", {"used": "max(redis_memory_used_bytes / redis_memory_limit_bytes)"}, "At 1 nothing is published any more."),
        ]),
    ]),
    "bus": ("Heliograph: the bus", [
        ("Groups", [
            ("Delivered", "cps", {"{{stream}} → {{group}}": f"sum by (stream, group) (rate(bus_delivered_total[{RATE}]))"}),
            ("Handled", "cps", {"{{stream}} {{result}}": f"sum by (stream, result) (rate(bus_handled_total[{RATE}]))"}),
            ("In hand", "short", {"{{stream}} → {{group}}": "max by (stream, group) (bus_pending)"}),
            ("The oldest in hand", "s", {"{{stream}} → {{group}}": "min by (stream, group) (bus_oldest_pending_seconds)"}),
        ]),
        ("Time", [
            ("Handling, p50", "s", {"{{stream}}": f"histogram_quantile(0.5, sum by (le, stream) (rate(bus_handle_seconds_bucket[{RATE}])))"}),
            ("Handling, p99", "s", {"{{stream}}": f"histogram_quantile(0.99, sum by (le, stream) (rate(bus_handle_seconds_bucket[{RATE}])))"}),
            ("Silence of read loops", "s", {"{{service}} {{stream}}": "max by (service, stream) (bus_read_loop_silence_seconds)"}),
            ("Stream length", "short", {"{{stream}}": "max by (stream) (bus_stream_length)"}),
        ]),
        ("Faults", [
            ("Claimed from the dead", "cps", {"{{stream}}": f"sum by (stream) (rate(bus_claimed_total[{RATE}]))"}),
            ("Waiting for another try", "short", {"{{stream}}": "max by (stream) (bus_retry_depth)"}),
            ("Given up", "cps", {"{{stream}} → {{group}}": f"sum by (stream, group) (rate(bus_dead_letters_total[{RATE}]))"}),
            ("Lost, or taken away at work", "cps", {"lost {{stream}}": f"sum by (stream) (rate(bus_lost_total[{RATE}]))", "taken {{stream}}": f"sum by (stream) (rate(bus_ownership_lost_total[{RATE}]))"}),
        ]),
        ("Outbox", [
            ("Published", "cps", {"published": f"sum(rate(bus_outbox_published_total[{RATE}]))", "again": f"sum(rate(bus_outbox_resent_total[{RATE}]))"}),
            ("The oldest that waits", "s", {"to be published": "min(bus_outbox_oldest_seconds)", "to be confirmed": "min(bus_outbox_unconfirmed_oldest_seconds)"}),
            ("A round of the relay, p99", "s", {"p99": f"histogram_quantile(0.99, sum by (le) (rate(bus_outbox_relay_seconds_bucket[{RATE}])))"}),
            ("Faults of the relay", "cps", {"failed": f"sum(rate(bus_outbox_failures_total[{RATE}]))", "refused": f"sum(rate(bus_outbox_refused_total[{RATE}]))"}),
        ]),
    ]),
    "push": ("Heliograph: pushes", [
        ("Delivery", [
            ("Accepted of what was tried", "percentunit", {"accepted": f'sum(rate(push_deliveries_total{{outcome="accepted"}}[{RATE}])) / sum(rate(push_deliveries_total{{outcome=~"accepted|failed|expired"}}[{RATE}]))'}, "Dead tokens do not count. Below 0.95 is an alert."),
            ("Ended, by kind", "cps", {"{{kind}}": f"sum by (kind) (rate(push_deliveries_total[{RATE}]))"}),
            ("Ended, by outcome", "cps", {"{{outcome}}": f"sum by (outcome) (rate(push_deliveries_total[{RATE}]))"}),
            ("Dead installations", "percentunit", {"of all": f'sum(rate(push_deliveries_total{{outcome="dead"}}[{RATE}])) / sum(rate(push_deliveries_total[{RATE}]))'}),
        ]),
        ("On the devices", [
            ("Open rate, of what devices say arrived", "percentunit", {"{{form}}": f'sum by (form) (rate(push_receipts_total{{event="opened"}}[{RATE}])) / sum by (form) (rate(push_receipts_total{{event="delivered"}}[{RATE}]))'}, "Rich pushes were to have a picture. heliographctl push report has the rate of what FCM took."),
            ("Told by devices", "cps", {"{{event}}": f"sum by (event) (rate(push_receipts_total[{RATE}]))"}),
            ("What made apps fetch an outcome", "cps", {"{{trigger}}": f"sum by (trigger) (rate(image_job_outcomes_fetched_total[{RATE}]))"}, "Pushes that arrive leave little to polling."),
            ("Chat messages", "cps", {"posted": f"sum(rate(chat_messages_total[{RATE}]))"}),
        ]),
        ("FCM", [
            ("Sends", "cps", {"{{outcome}}": f"sum by (outcome) (rate(push_sends_total[{RATE}]))"}),
            ("A send, p50 and p99", "s", {"p50": f"histogram_quantile(0.5, sum by (le) (rate(push_send_seconds_bucket[{RATE}])))", "p99": f"histogram_quantile(0.99, sum by (le) (rate(push_send_seconds_bucket[{RATE}])))"}),
            ("Waiting in the lanes", "short", {"{{stream}}": 'max by (stream) (bus_undelivered{stream=~"notification.addressed.*"})'}),
            ("In hand", "short", {"{{stream}}": 'max by (stream) (bus_pending{stream=~"notification.addressed.*"})'}),
        ]),
        ("What holds pushes up", [
            ("Waiting in the notifiers", "short", {"{{lane}}": "sum by (lane) (push_queue_length)"}, "A notifier takes a thousand of a lane at most; the rest waits in the streams."),
            ("How long the first in line waits", "s", {"{{lane}}": "max by (lane) (push_queue_oldest_seconds)"}, "Since it was addressed."),
            ("On their way, and how many may be", "short", {"on their way": "sum(push_in_flight)", "may be": "sum(push_in_flight_limit)", "connections opened": f"sum(increase(push_connections_opened_total[{RATE}]))"}, "The limit grows while FCM answers as fast as ever, and halves when it pushes back."),
            ("Left of the quota's second", "percentunit", {"{{share}}": "min by (share) (push_quota_tokens) / on () group_left () max(push_quota_limit_tokens)"}, "At 0 pushes wait for FCM's quota. bulk: what fan-outs may take."),
        ]),
        ("FCM's state", [
            ("Breakers", "short", {"{{breaker}}": "max by (breaker) (push_breaker_state)"}, "0 closed, 1 tries again, 2 open: nothing is sent. credentials: ours; provider: Apple's or Google's trust in the project; transient: FCM is ill."),
            ("Refused or unclear", "cps", {"{{outcome}}": f'sum by (outcome) (rate(push_sends_total{{outcome!~"accepted|dead_target"}}[{RATE}]))'}),
            ("The canary is taken", "bool", {"{{instance}}": "push_fcm_up"}, "Where FCM_CANARY is set. 0 on all for five minutes is an alert."),
            ("Held back for one installation", "cps", {"{{kind}}": f"sum by (kind) (rate(push_installation_rate_waits_total[{RATE}]))"}, "Pushes that wait because their installation got many."),
        ]),
        ("Installations", [
            ("Addressed", "cps", {"all": f"sum(rate(push_deliveries_addressed_total[{RATE}]))", "by fan-outs": f"sum(rate(push_fan_out_deliveries_total[{RATE}]))"}),
            ("Notifications for nobody", "cps", {"{{reason}}": f"sum by (reason) (rate(push_notifications_skipped_total[{RATE}]))"}),
            ("Removed, dead, suspect", "cps", {"removed": f"sum(rate(push_installs_removed_total[{RATE}]))", "dead": f"sum(rate(push_installs_pruned_total[{RATE}]))", "suspect": f"sum(rate(push_installs_suspected_total[{RATE}]))"}),
            ("FCM is not believed", "bool", {"guard": "max(push_guard_tripped)"}, "1 while so many tokens die at once that none is pruned."),
        ]),
    ]),
    "faces": ("Heliograph: faces", [
        ("Sessions", [
            ("Decided", "cps", {"{{event}}": f"sum by (event) (rate(ekyc_sessions_ended_total[{RATE}]))"}),
            ("Refused, and why", "cps", {"{{outcome}}": f'sum by (outcome) (rate(ekyc_sessions_ended_total{{outcome!="succeeded"}}[{RATE}]))'}),
            ("Upload to decision, p50", "s", {"{{event}}": f"histogram_quantile(0.5, sum by (le, event) (rate(ekyc_session_seconds_bucket[{RATE}])))"}),
            ("Upload to decision, p99", "s", {"{{event}}": f"histogram_quantile(0.99, sum by (le, event) (rate(ekyc_session_seconds_bucket[{RATE}])))"}),
        ]),
        ("Photos", [
            ("Looked at", "cps", {"photos": f"sum(rate(ekyc_photo_seconds_count[{RATE}]))"}),
            ("A photo, p50 and p99", "s", {"p50": f"histogram_quantile(0.5, sum by (le) (rate(ekyc_photo_seconds_bucket[{RATE}])))", "p99": f"histogram_quantile(0.99, sum by (le) (rate(ekyc_photo_seconds_bucket[{RATE}])))"}),
            ("Uploads answered", "reqps", {"{{endpoint}} {{status}}": f'sum by (endpoint, status) (rate(http_requests_total{{endpoint=~"/api/v1/ekyc/(upload-photos|login)"}}[{RATE}]))'}),
            ("Sessions that wait", "short", {"{{stream}}": 'max by (stream) (bus_undelivered{stream=~"ekyc[.]requested([.]known)?"})'}),
        ]),
        ("Challenges, and one face in two accounts", [
            ("Challenges, by their result", "cps", {"{{event}} {{result}}": f'sum by (event, result) (rate(ekyc_liveness_checks_total{{result!="not_performed"}}[{RATE}]))'}, "wrong_pose, flat and changed_scene are refusals. More than half of them in half an hour is an alert."),
            ("Sessions with a challenge", "percentunit", {"{{event}}": f'sum by (event) (rate(ekyc_liveness_checks_total{{result!="not_performed"}}[{RATE}])) / sum by (event) (rate(ekyc_liveness_checks_total[{RATE}]))'}, "Also photos that are refused before the check count as without one."),
            ("Faces in memory", "short", {"{{instance}}": "face_index_faces"}, "Of accounts, and of sign-ups that wait. Workers that differ by more than one in a hundred are an alert; heliographctl faces reindex --check compares them with the tables."),
            ("A search for the same face, p50 and p99", "s", {"p50": f"histogram_quantile(0.5, sum by (le) (rate(face_duplicate_search_seconds_bucket[{RATE}])))", "p99": f"histogram_quantile(0.99, sum by (le) (rate(face_duplicate_search_seconds_bucket[{RATE}])))"}, "One for each sign-up, with the look at Postgres before it."),
        ]),
    ]),
    "images": ("Heliograph: pictures", [
        ("Jobs", [
            ("Created and ended", "cps", {"created": f"sum(rate(image_jobs_created_total[{RATE}]))", "{{status}}": f"sum by (status) (rate(image_jobs_ended_total[{RATE}]))"}),
            ("Failed, and why", "cps", {"{{outcome}}": f'sum by (outcome) (rate(image_jobs_ended_total{{status="failed"}}[{RATE}]))'}, "More than 5 % is an alert."),
            ("Order to result, p50 and p99", "s", {"p50": f'histogram_quantile(0.5, sum by (le) (rate(image_job_seconds_bucket{{status="completed"}}[{RATE}])))', "p99": f'histogram_quantile(0.99, sum by (le) (rate(image_job_seconds_bucket{{status="completed"}}[{RATE}])))'}),
            ("Jobs that wait", "short", {"image.requested": 'max(bus_undelivered{stream="image.requested"})'}),
        ]),
        ("Generators", [
            ("Calls", "cps", {"{{generator}} {{outcome}}": f"sum by (generator, outcome) (rate(image_generator_calls_total[{RATE}]))"}),
            ("A call, p50", "s", {"{{generator}}": f"histogram_quantile(0.5, sum by (le, generator) (rate(image_generation_seconds_bucket[{RATE}])))"}),
            ("A call, p99", "s", {"{{generator}}": f"histogram_quantile(0.99, sum by (le, generator) (rate(image_generation_seconds_bucket[{RATE}])))"}),
            ("Photos of topics", "cps", {"added": f"sum(rate(topic_photos_added_total[{RATE}]))"}),
        ]),
        ("Decoders, also of faces", [
            ("Decoders that failed", "cps", {"{{service}} {{kind}}": f"sum by (service, kind) (rate(image_decoder_failures_total[{RATE}]))"}, "Each was replaced. killed and not_started are tried again; others refuse their picture."),
            ("Forbidden system calls of a day", "short", {"{{service}}": 'sum by (service) (increase(image_decoder_failures_total{kind="violation"}[1d]))'}, "Each is an alert: an attack by a picture, or a library that has changed."),
        ]),
    ]),
    "accounts": ("Heliograph: accounts", [
        ("E-mails and ID tokens", [
            ("Mails", "cps", {"{{outcome}}": f"sum by (outcome) (rate(mails_sent_total[{RATE}]))"}, "unavailable is tried again; misconfigured ends only when an operator acts."),
            ("Mails with codes", "cps", {"{{turn}}": f"sum by (turn) (rate(code_mails_total[{RATE}]))"}, "waited: its address, or the total of all addresses, had to wait."),
            ("A mail, p50 and p99", "s", {"p50": f"histogram_quantile(0.5, sum by (le) (rate(mail_send_seconds_bucket[{RATE}])))", "p99": f"histogram_quantile(0.99, sum by (le) (rate(mail_send_seconds_bucket[{RATE}])))"}),
            ("ID tokens of Firebase", "cps", {"{{outcome}}": f"sum by (outcome) (rate(firebase_tokens_total[{RATE}]))"}, "known and verified are accepted. undecided: Google's keys are missing."),
            ("Proofs of device keys", "cps", {"{{result}}": f"sum by (result) (rate(device_proofs_total[{RATE}]))"}, "accepted is valid. iat and nonce are tried again. used and other_key: copies of requests or tokens."),
            ("Confirmations of sign-ins", "cps", {"{{result}}": f"sum by (result) (rate(sign_in_confirmations_total[{RATE}]))"}, "asked by a push. denied: photos of the owner's face were used."),
            ("Fetches of Google's keys", "cps", {"{{outcome}}": f"sum by (outcome) (rate(firebase_key_fetches_total[{RATE}]))"}),
        ]),
        ("Refused by a limit", [
            ("Uploads, before they are read", "cps", {"{{limit}}": f"sum by (limit) (rate(ekyc_admission_refusals_total[{RATE}]))"}, "Too many sessions or photos are not decided yet."),
            ("Sign-ins of unknown devices", "cps", {"{{limit}}": f"sum by (limit) (rate(sign_in_brakes_total[{RATE}]))"}, "Too many sign-ins failed."),
            ("Mails and codes, by totals", "cps", {"{{limit}}": f"sum by (limit) (rate(code_brakes_total[{RATE}]))"}, "Too many mails with codes, or too many wrong codes."),
            ("Waits for a result", "cps", {"refused": f"sum(rate(http_waits_refused_total[{RATE}]))"}, "They are answered at once."),
            ("Claims of installations", "cps", {"{{outcome}}": f"sum by (outcome) (rate(push_install_claims_total[{RATE}]))"}, "An account registers the phone of another one."),
        ]),
        ("Erasures, exports and retention", [
            ("Erasures under way", "short", {"open": "max(erasures_open)"}),
            ("The oldest of them", "s", {"oldest": "min(erasures_oldest_open_seconds)"}, "More than 300 is an alert."),
            ("From the request to the receipt, p50 and p99", "s", {"p50": f"histogram_quantile(0.5, sum by (le) (rate(erasure_seconds_bucket[{RATE}])))", "p99": f"histogram_quantile(0.99, sum by (le) (rate(erasure_seconds_bucket[{RATE}])))"}),
            ("Exports", "cps", {"{{result}}": f"sum by (result) (rate(account_exports_total[{RATE}]))"}),
        ]),
        ("Keys and upkeep", [
            ("Values by the key that sealed them", "short", {"{{ring}} {{key_id}}": "sum by (ring, key_id) (max by (service, ring, key_id) (sealed_values))"}, "Of the tables, by a sample every ten minutes. heliographctl keys status counts objects too, and says which key can be removed."),
            ("Deleted by retention", "cps", {"{{service}} {{step}}": f"sum by (service, step) (rate(retention_step_items_total[{RATE}]))"}),
            ("Steps of retention that fail", "cps", {"{{service}} {{step}}": f"sum by (service, step) (rate(retention_step_failures_total[{RATE}]))"}, "For a quarter of an hour, an alert."),
            ("Steps of retention that are overdue", "s", {"{{service}} {{step}}": "clamp_min(min by (service, step) (retention_step_overdue_seconds), 0)"}, "The time since a step should have ended again on one of the instances. More than 900 is an alert."),
            ("Reports by users", "cps", {"{{reason}}": f"sum by (reason) (rate(reports_total[{RATE}]))"}),
        ]),
    ]),
}

WIDTH, HEIGHT, COLUMNS = 6, 8, 4
SOURCE = {"type": "prometheus", "uid": "${source}"}


def panel(number, x, y, title, unit, targets, says=""):
    return {
        "id": number, "type": "timeseries", "title": title, "description": says, "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": {"fillOpacity": 10, "showPoints": "never"}}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [
            {"refId": chr(65 + i), "expr": expression, "legendFormat": legend, "datasource": SOURCE}
            for i, (legend, expression) in enumerate(targets.items())
        ],
    }


def dashboard(uid, title, rows):
    panels, y, number = [], 0, 0
    for name, members in rows:
        number += 1
        panels.append({"id": number, "type": "row", "title": name, "collapsed": False, "panels": [],
                       "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        for i, member in enumerate(members):
            number += 1
            panels.append(panel(number, i % COLUMNS * WIDTH, y + 1 + i // COLUMNS * HEIGHT, *member))
        y += 1 + (len(members) + COLUMNS - 1) // COLUMNS * HEIGHT
    return {
        "uid": f"heliograph-{uid}", "title": title, "tags": ["heliograph"], "timezone": "browser", "schemaVersion": 39,
        "refresh": "10s", "time": {"from": "now-1h", "to": "now"}, "editable": False, "graphTooltip": 1,
        "links": [{"type": "dashboards", "tags": ["heliograph"], "title": "Heliograph", "asDropdown": False, "keepTime": True}],
        "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus", "current": {"text": "Prometheus", "value": "prometheus"}}]},
        "panels": panels,
    }


def main():
    check = sys.argv[1:] == ["--check"]
    wrong = []
    for uid, (title, rows) in DASHBOARDS.items():
        path = FOLDER / f"{uid}.json"
        text = json.dumps(dashboard(uid, title, rows), indent=1, ensure_ascii=False) + "\n"
        if check and (not path.exists() or path.read_text() != text):
            wrong.append(path.name)
        if not check:
            path.write_text(text)
    if wrong:
        sys.exit(f"run deploy/grafana/make-dashboards.py: it would change {', '.join(wrong)}")


main()
