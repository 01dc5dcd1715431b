import ArgumentParser
import BuildVersion
import FCMEmulator

@main
struct FCMEmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fcm-emulator",
        abstract: "A development stand-in for Firebase Cloud Messaging and a mail server, with a phone and a mailbox to look at.",
        discussion: """
            Answers what the notifier asks of Google: POST /token (OAuth 2, service account) and \
            POST /v1/projects/{project}/messages:send, over HTTP/2 and TLS, refusing what FCM refuses in FCM's words.

            Files that do not exist are made: the service-account key, and a certificate for this machine. Point the \
            notifier at them:
              FCM_BASE_URL=https://localhost:9443  FCM_CA_FILE=<certificate>  GOOGLE_APPLICATION_CREDENTIALS=<key file>

            With --smtp-port 9025 it takes mails, too, from clients that trust the certificate:
              SMTP_URL=smtp://localhost:9025  SMTP_CA_FILE=<certificate>  SMTP_FROM='Heliograph <no-reply@example.org>'

            Open http://localhost:9080/inbox to see each push as a phone shows it, of all phones or of one. Or, with curl:
              curl 'localhost:9080/control/tokens?search=TEXT'               the phones with TEXT in their token or name
              curl -X POST localhost:9080/control/tokens                     a registration token for a new phone
              curl -X DELETE localhost:9080/control/tokens/TOKEN             the app is uninstalled: sends get 404 UNREGISTERED
              curl 'localhost:9080/control/messages?token=TOKEN&wait=30'     wait for a push (&count=N: for N of them)
              curl -X DELETE localhost:9080/control/messages                 forget all pushes
              curl 'localhost:9080/control/mails?to=ann@example.org&wait=30' wait for a mail; -X DELETE: forget all mails
              curl -d '{"code":"UNAVAILABLE","retry_after":"30","count":3}' localhost:9080/control/faults
              curl -d '{"action":"drop","delivered":true}' localhost:9080/control/faults   accepted, but the answer is lost
              curl -d '{"action":"goaway","every":500,"count":0}' localhost:9080/control/faults
              curl localhost:9080/control/faults                             the rules in force; -X DELETE: all is well again
              curl localhost:9080/control/requests                           what became of each request (?status=400&token=…)
              curl -d '{"per_minute":600000}' localhost:9080/control/quota   FCM's quota, in a bucket filled each minute
              curl -d '{"advance_seconds":3600}' localhost:9080/control/clock
              curl -X POST localhost:9080/control/tokens/TOKEN/rotate        or revive, expire; offline and online (Android)
            Faults: action error|html|hang|drop|reset|goaway|delay; status, code, retry_after, retry_after_date_in, reset, \
            latency_ms (a number, {min, max} or {p50, p99}), delivered; for which requests: count (0: until removed), skip, \
            every, percent, token, platform, starts_in and lasts (seconds), endpoint send|token|firebase_keys|mail; of mails \
            also to (an address) and step connection|sender|recipient|data.
            """, version: HeliographVersion.current,
        subcommands: [Run.self, Healthcheck.self], defaultSubcommand: Run.self)
}
