import FCM
import FoundationEssentials
import HTTPClient
import Testing

/// All error envelopes seen in production or documented, with their details in the order seen.
@Suite struct ClassifierTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        let body: String
        let outcome: FCMOutcome
        let code: String
        var headers: [String: String] = [:]
        var testDescription: String { name }

        init(
            _ name: String, _ status: Int, _ body: String, _ outcome: FCMOutcome, _ code: String,
            headers: [String: String] = [:]
        ) {
            (self.name, self.status, self.body, self.outcome, self.code) = (name, status, body, outcome, code)
            self.headers = headers
        }
    }

    static func envelope(_ code: Int, _ status: String, _ message: String, _ details: String...) -> String {
        let list = details.isEmpty ? "" : #","details":[\#(details.joined(separator: ","))]"#
        return #"{"error":{"code":\#(code),"message":"\#(message)","status":"\#(status)"\#(list)}}"#
    }

    static func fcm(_ code: String) -> String {
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
    }

    static func badRequest(_ field: String) -> String {
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)","description":"x"}]}"#
    }

    static let emptyBadRequest = #"{"@type":"type.googleapis.com/google.rpc.BadRequest"}"#
    static let badToken = "The registration token is not a valid FCM registration token"
    static let invalid = "INVALID_ARGUMENT"

    static let refusals = [
        Case(
            "bad token syntax", 400, envelope(400, invalid, badToken, fcm(invalid), badRequest("message.token")),
            .deadTarget, invalid),
        Case(
            "bad token, details the other way round", 400,
            envelope(400, invalid, "x", badRequest("message.token"), fcm(invalid)), .deadTarget, invalid),
        Case(
            "bad token by its sentence alone", 400, envelope(400, invalid, badToken, fcm(invalid)), .deadTarget, invalid),
        Case(
            "bad installation id", 400, envelope(400, invalid, "x", fcm(invalid), badRequest("message.fid")),
            .deadTarget, invalid),
        Case(
            "no target", 400,
            envelope(400, invalid, "Recipient of the message is not set.", badRequest("message"), fcm(invalid)),
            .badPayload, invalid),
        Case(
            "bad topic", 400,
            envelope(400, invalid, "Topic name contains invalid characters.", badRequest("message"), fcm(invalid)),
            .badPayload, invalid),
        Case(
            "bad condition, no details", 400,
            envelope(400, invalid, "Request contains an invalid argument."), .badPayload, invalid),
        Case(
            "too big, a BadRequest without fields", 400,
            envelope(
                400, invalid, "Message is too large. The maximum is 4K (4096 bytes).", emptyBadRequest, fcm(invalid)),
            .badPayload, invalid),
        Case(
            "webpush TTL", 400,
            envelope(
                400, invalid, "TTL must be a non-negative integer.", badRequest("message.webpush.headers.TTL"),
                fcm(invalid)), .badPayload, invalid),
        Case(
            "data that is no string", 400,
            envelope(
                400, invalid, "Invalid value at 'message.data[0].value' (TYPE_STRING), 12",
                badRequest("message.data[0].value")), .badPayload, invalid),
        Case(
            "unknown field", 400,
            envelope(400, invalid, "Invalid JSON payload received.", badRequest("message")), .badPayload, invalid),
        Case(
            "dead token", 404, envelope(404, "NOT_FOUND", "Requested entity was not found.", fcm("UNREGISTERED")),
            .deadTarget, "UNREGISTERED"),
        Case(
            "token of another project", 403,
            envelope(403, "PERMISSION_DENIED", "SenderId mismatch", fcm("SENDER_ID_MISMATCH")), .foreignTarget,
            "SENDER_ID_MISMATCH"),
        Case(
            "missing right", 403,
            envelope(
                403, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied",
                #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"IAM_PERMISSION_DENIED"}"#), .config,
            "PERMISSION_DENIED"),
        Case(
            "API disabled", 403,
            envelope(403, "PERMISSION_DENIED", "Firebase Cloud Messaging API has not been used"), .config,
            "PERMISSION_DENIED"),
        Case(
            "our access token", 401,
            envelope(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."), .ourAuth,
            "UNAUTHENTICATED"),
        Case(
            "the key for Apple", 401,
            envelope(
                401, "UNAUTHENTICATED", "Request is missing required authentication credential. Expected OAuth 2 access token",
                fcm("THIRD_PARTY_AUTH_ERROR")), .providerAuth, "THIRD_PARTY_AUTH_ERROR"),
        Case(
            "the key for Apple, older name", 401,
            envelope(401, "UNAUTHENTICATED", "Auth error from APNS", fcm("APNS_AUTH_ERROR")), .providerAuth,
            "APNS_AUTH_ERROR"),
        Case(
            "project quota", 429,
            envelope(
                429, "RESOURCE_EXHAUSTED", "Quota exceeded",
                #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"p"}]}"#,
                fcm("QUOTA_EXCEEDED")), .quota(retryAfter: .seconds(60)), "QUOTA_EXCEEDED"),
        Case(
            "project quota with a longer wait", 429, envelope(429, "RESOURCE_EXHAUSTED", "x", fcm("QUOTA_EXCEEDED")),
            .quota(retryAfter: .seconds(90)), "QUOTA_EXCEEDED", headers: ["retry-after": "90"]),
        Case(
            "topic quota", 429,
            envelope(429, "RESOURCE_EXHAUSTED", "Topic quota exceeded.", fcm("QUOTA_EXCEEDED")),
            .quota(retryAfter: .seconds(60)), "QUOTA_EXCEEDED", headers: ["Retry-After": "5"]),
        Case(
            "overload", 503,
            envelope(503, "UNAVAILABLE", "The service is currently unavailable.", fcm("UNAVAILABLE")),
            .transient(retryAfter: .seconds(7)), "UNAVAILABLE", headers: ["Retry-After": "7"]),
        Case(
            "internal", 500, envelope(500, "INTERNAL", "Internal error encountered.", fcm("INTERNAL")),
            .transient(retryAfter: nil), "INTERNAL"),
    ]

    static let oddities = [
        Case("a page of HTML, 502", 502, "<html>Bad Gateway</html>", .transient(retryAfter: nil), "http_502"),
        Case("a page of HTML, 404", 404, "<html>Not Found</html>", .config, "http_404"),
        Case("a page of HTML, 401", 401, "<html></html>", .ourAuth, "http_401"),
        Case("a page of HTML, 429", 429, "", .quota(retryAfter: .seconds(60)), "http_429"),
        Case("404 without an FcmError is not the token's", 404, envelope(404, "NOT_FOUND", "x"), .config, "NOT_FOUND"),
        Case(
            "an unknown code, 5xx", 500, envelope(500, "INTERNAL", "x", fcm("SOMETHING_NEW")), .transient(retryAfter: nil),
            "SOMETHING_NEW"),
        Case(
            "an unknown code, 4xx, is never the token's", 400, envelope(400, invalid, "x", fcm("SOMETHING_NEW")),
            .badPayload, "SOMETHING_NEW"),
        Case(
            "details that are no objects", 503, #"{"error":{"status":"UNAVAILABLE","details":[1,"x",null]}}"#,
            .transient(retryAfter: nil), "UNAVAILABLE"),
        Case(
            "a message that is no text, beside a code", 404,
            #"{"error":{"message":"\ud800 \x","n":1e999,"details":["# + fcm("UNREGISTERED") + "]}}", .deadTarget, "UNREGISTERED"),
        Case(
            "details that are nested deeply", 503,
            #"{"error":{"status":"UNAVAILABLE","x":"# + String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
                + "}}", .transient(retryAfter: nil), "UNAVAILABLE"),
        Case("a name beside a member that is no text", 200, #"{"x":"\ud800","name":"n"}"#, .accepted(name: "n"), "ok"),
        Case("a redirect", 302, "", .config, "http_302"),
        Case("a code that is no word", 400, envelope(400, invalid, "x", fcm("a<b> c")), .badPayload, "a?b??c"),
        Case("200 without a name", 200, "<html>welcome to the wifi</html>", .ambiguous, "no_name"),
        Case("a name with a NUL", 200, #"{"name":"a\u0000b"}"#, .accepted(name: "ab"), "ok"),
        Case(
            "a name longer than 256 characters", 200, #"{"name":" \#(String(repeating: "n", count: 300))"}"#,
            .accepted(name: String(repeating: "n", count: 256)), "ok"),
        Case("a name of nothing to show", 200, #"{"name":"\u0000"}"#, .ambiguous, "no_name"),
        Case("200", 200, #"{"name":"projects/p/messages/1"}"#, .accepted(name: "projects/p/messages/1"), "ok"),
    ]

    @Test(arguments: refusals + oddities)
    func `a response is classified`(answer: Case) {
        let response = HTTPClientResponse(
            status: answer.status, headers: answer.headers.map { (name: $0.key, value: $0.value) },
            body: Array(answer.body.utf8))
        let result = FCMClassifier.classify(response, now: Date())
        #expect(result.outcome == answer.outcome)
        #expect(result.code == answer.code)
    }

    @Test func `a 400, 401, 403 or 404 is never classified as transient`() {
        for answer in Self.refusals + Self.oddities where [400, 401, 403, 404].contains(answer.status) {
            switch answer.outcome {
            case .deadTarget, .foreignTarget, .badPayload, .providerAuth, .config, .ourAuth: break
            default: Issue.record("\(answer.name)")
            }
        }
    }
}
