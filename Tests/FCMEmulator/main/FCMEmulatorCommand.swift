import ArgumentParser
import FCMEmulator

@main
struct FCMEmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fcm-emulator",
        abstract: "A development stand-in for Firebase Cloud Messaging, with a phone to look at.",
        discussion: """
            Answers what the notifier asks of Google: POST /token (OAuth 2, service account) and \
            POST /v1/projects/{project}/messages:send, over HTTP/2 and TLS, refusing what FCM refuses in FCM's words.

            Files that do not exist are made: the service-account key, and a certificate for this machine. Point the \
            notifier at them:
              FCM_BASE_URL=https://localhost:9443  FCM_CA_FILE=<certificate>  GOOGLE_APPLICATION_CREDENTIALS=<key file>

            Open http://localhost:9080/inbox to see each push as a phone shows it (?token=… for one phone only). Or, with curl:
              curl -X POST localhost:9080/control/tokens                     a registration token for a new phone
              curl -X DELETE localhost:9080/control/tokens/TOKEN             the app is uninstalled: sends get 404 UNREGISTERED
              curl 'localhost:9080/control/messages?token=TOKEN&wait=30'     wait for a push (&count=N: for N of them)
              curl -X DELETE localhost:9080/control/messages                 forget all pushes
              curl -d '{"code":"UNAVAILABLE","retry_after":"30","count":3}' localhost:9080/control/faults
              curl -d '{"action":"drop","delivered":true}' localhost:9080/control/faults   accepted, but the answer is lost
              curl -X DELETE localhost:9080/control/faults                   all is well again
            Faults: action error|html|hang|drop|reset|delay, status, code, retry_after, latency_ms, delivered, count (0: until \
            removed), skip, token, endpoint send|token.
            """,
        subcommands: [Run.self, Healthcheck.self], defaultSubcommand: Run.self)
}
