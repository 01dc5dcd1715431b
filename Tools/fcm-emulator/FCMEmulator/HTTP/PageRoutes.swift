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
        for (path, bytes) in Self.files {
            let type = path.hasSuffix(".css") ? "text/css" : "text/javascript"
            router.get(RouterPath(path)) { _, _ in Self.file(bytes, type: type) }
        }
        router.get("/control/stream") { request, _ in stream(request) }
        router.get("/healthz") { _, _ in
            // Healthy also means that the key file exists, which other processes wait to read.
            core.verifier == nil ? EmulatorAnswer.problem("starting", status: 503) : EmulatorAnswer.json(["status": "ok"])
        }
    }

    /// The style and the scripts of the page.
    private static let files: KeyValuePairs<String, [UInt8]> = [
        "/inbox.css": PackageResources.inbox_css, "/inbox.js": PackageResources.inbox_js,
        "/inbox-page.js": PackageResources.inbox_page_js, "/inbox-cards.js": PackageResources.inbox_cards_js,
        "/inbox-mails.js": PackageResources.inbox_mails_js, "/inbox-phones.js": PackageResources.inbox_phones_js,
    ]

    private func page() -> Response {
        // A name with a quotation mark must not end its attribute.
        let name = core.configuration.appName.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
        let page = String(decoding: PackageResources.inbox_html, as: UTF8.self).replacing("APP_NAME", with: name)
        return Self.file(
            Array(page.utf8), type: "text/html",
            policy: "default-src 'none'; style-src 'self'; script-src 'self'; img-src data: https: http:; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'")
    }

    private static func file(_ bytes: [UInt8], type: String, policy: String = "default-src 'none'") -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type + "; charset=utf-8", .cacheControl: "no-store", .contentSecurityPolicy: policy],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
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
        case .snapshot(let cards, let messages):
            "event: snapshot\ndata: "
                + JSONValue.members(("cards", .array(cards.map { $0.json(senderID: sender) })), ("messages", .integer(messages))).text
                + "\n\n"
                + "event: mails\ndata: \(JSONValue.array(core.mailbox.all.suffix(Self.maxMails).map(\.json)).text)\n\n"
        case .card(let card): "event: card\nid: \(card.received.name)\ndata: \(card.json(senderID: sender).text)\n\n"
        case .cleared: "event: cleared\ndata: {}\n\n"
        case .mail(let mail): "event: mail\ndata: \(mail.json.text)\n\n"
        case .mailsCleared: "event: mails\ndata: []\n\n"
        case .heartbeat: ": still here\n\n"
        }
    }
}
