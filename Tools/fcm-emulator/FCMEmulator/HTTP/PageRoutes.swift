import HTTPTypes
import Hummingbird
import JSON
import NIOCore

/// The inbox page, and the stream of events that feeds it.
struct PageRoutes: Sendable {
    let core: EmulatorCore
    /// The most mails that a stream begins with; the newest.
    private static let maxMails = 50

    func add(to router: Router<EmulatorContext>) {
        for path in ["/", "/inbox"] as [RouterPath] {
            router.get(path) { _, _ in page() }
        }
        router.get("/control/stream") { request, _ in stream(request) }
        router.get("/healthz") { _, _ in
            // Healthy also means that the key file exists, which other processes wait to read.
            core.verifier == nil ? EmulatorAnswer.problem("starting", status: 503) : EmulatorAnswer.json(["status": "ok"])
        }
    }

    private func page() -> Response {
        // "</script>" must stay harmless.
        let name = JSONValue.string(core.configuration.appName).text.replacing("<", with: #"\u003c"#)
        let page = String(decoding: PackageResources.inbox_html, as: UTF8.self)
            .split(separator: "/*APP_NAME*/", maxSplits: 1, omittingEmptySubsequences: false)
            .joined(separator: "window.APP_NAME = \(name);")
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                    + "img-src data: https: http:; connect-src 'self'; base-uri 'none'; form-action 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }

    private func stream(_ request: Request) -> Response {
        guard let events = core.inbox.subscribe(to: ControlRoutes.query("token", request)) else {
            return EmulatorAnswer.problem("too many streams", status: 503)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                for await event in events {
                    try await writer.write(ByteBuffer(string: text(event)))
                }
                try await writer.finish(nil)
            })
    }

    /// Returns an event in the format `text/event-stream`.
    private func text(_ event: Inbox.Event) -> String {
        let sender = core.configuration.projectNumber
        return switch event {
        case .snapshot(let cards):
            "event: snapshot\ndata: \(JSONValue.array(cards.map { $0.json(senderID: sender) }).text)\n\n"
                + "event: mails\ndata: \(JSONValue.array(core.mailbox.all.suffix(Self.maxMails).map(\.json)).text)\n\n"
        case .card(let card): "event: card\nid: \(card.received.name)\ndata: \(card.json(senderID: sender).text)\n\n"
        case .cleared: "event: cleared\ndata: {}\n\n"
        case .mail(let mail): "event: mail\ndata: \(mail.json.text)\n\n"
        case .mailsCleared: "event: mails\ndata: []\n\n"
        case .heartbeat: ": still here\n\n"
        }
    }
}
