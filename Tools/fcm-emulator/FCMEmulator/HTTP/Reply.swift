import FoundationEssentials
import JSON
import NIOCore
import NIOHPACK

/// An answer before it is written.
struct Reply: Sendable {
    var status = 200
    var contentType = "application/json; charset=UTF-8"
    var body: ByteBuffer
    var retryAfter: String?
    /// Whether the answer has a `WWW-Authenticate` header.
    var isChallenge = false

    private static let challenge = "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\""

    /// The answer to an accepted message, in the layout of Google's APIs.
    init(name: MessageName) { body = name.answer }

    /// An answer in JSON.
    init(_ json: JSONValue, status: Int = 200) {
        self.status = status
        body = ByteBuffer(string: json.prettyText)
    }

    /// A refusal, under its own status or another.
    init(_ refusal: FCMRefusal, status: Int? = nil, retryAfter: String? = nil) {
        var refusal = refusal
        refusal.code = status ?? refusal.code
        self.init(refusal.body, status: refusal.code)
        self.retryAfter = retryAfter
        isChallenge = refusal.code == 401
    }

    /// The HTML page with which Google's front end answers a request that does not reach the API.
    static func page(status: Int, retryAfter: String? = nil) -> Reply {
        var reply = Reply(nil, status: status)
        reply.contentType = "text/html; charset=UTF-8"
        reply.body = ByteBuffer(string: EmulatorAnswer.errorPage(status: status))
        reply.retryAfter = retryAfter
        return reply
    }

    /// The headers of the answer, as frames have them.
    var headers: HPACKHeaders {
        var headers: HPACKHeaders = [
            ":status": String(status), "content-type": contentType, "content-length": String(body.readableBytes),
        ]
        if let retryAfter { headers.add(name: "retry-after", value: retryAfter) }
        if isChallenge { headers.add(name: "www-authenticate", value: Self.challenge) }
        return headers
    }
}

/// The outcome of a request: its end, its delay, and whether its connection ends with it.
struct RequestOutcome: Sendable {
    /// The end of a request.
    enum Fate: Sendable {
        case reply(Reply)
        /// No answer, until the caller gives up.
        case hang
        /// The connection is closed, with everything on it.
        case dropConnection
        /// The stream is reset; under HTTP/1.1 the connection is closed.
        case resetStream(StreamReset)
    }

    var fate: Fate
    /// The delay of the outcome.
    var delay = Duration.zero
    /// Whether the connection takes no requests after this one; under HTTP/2 GOAWAY is sent, under HTTP/1.1 `Connection: close`.
    var isLast = false
}
