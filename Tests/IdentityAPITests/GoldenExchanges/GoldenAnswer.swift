import Foundation
import HTTPClient
import JSON
import WireFormat

/// A response as golden files have it: with placeholders for what is different in each run.
struct GoldenAnswer {
    /// The headers that apps read, in the order in which they are written. All others are left out.
    private static let headers = [
        "Cache-Control", "Content-Disposition", "Content-Type", "ETag", "Idempotent-Replayed", "Location", "Preference-Applied",
        "Retry-After", "WWW-Authenticate", "X-Request-ID", "X-Session-Token",
    ]
    /// The members that have secrets, or signatures.
    private static let tokens: Set<String> = [
        "access_token", "refresh_token", "enrolment_token", "receipt_token", "receipt", "challenge_id",
    ]
    /// The members that have times in seconds, of which those are 0 or count down.
    private static let countdowns: Set<String> = ["expires_in", "mail_after", "resend_after", "retry_after"]

    /// The ids and tokens of this run by their placeholders, the longest first: one may contain another.
    private let hidden: [(placeholder: String, value: String)]

    init(hiding values: [String: String]) {
        let named = values.filter { $0.key.hasPrefix("<uuid") || $0.key.hasPrefix("<token") }
        hidden = named.map { ($0.key, $0.value) }.sorted { ($0.1.count, $0.1) > ($1.1.count, $1.1) }
    }

    func json(of response: HTTPClientResponse) -> JSONValue {
        let headers = Self.headers.compactMap { name -> JSONValue.Member? in
            guard let value = response.header(name) else { return nil }
            switch name {
            case "Retry-After": return JSONValue.Member(name, "<number>")
            case "X-Session-Token": return JSONValue.Member(name, "<token>")
            default: return JSONValue.Member(name, .string(text(value)))
            }
        }
        return .members(("status", .integer(response.status)), ("headers", .object(headers)), ("body", body(of: response)))
    }

    private func body(of response: HTTPClientResponse) -> JSONValue {
        guard !response.body.isEmpty else { return .null }
        switch response.header("Content-Type") {
        case "application/json"?: return value(response.json, of: "")
        case "text/event-stream"?: return .string(text(response.text))
        case let type: return .string("<\(type?.split(separator: "/").last ?? "bytes")>")
        }
    }

    private func value(_ value: JSONValue, of name: String) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map { self.value($0, of: name) })
        case .object(let members): .object(members.map { JSONValue.Member($0.name, self.value($0.value, of: $0.name)) })
        case .integer(let number) where Self.countdowns.contains(name) && number != 0: "<number>"
        case .null, .bool, .integer, .number: value
        // Random ones.
        case .string where name == "poses": "<pose>"
        case .string where name == "reference": "<reference>"
        case .string, .slice: .string(isToken(value, of: name) ? "<token>" : text(value.string ?? ""))
        }
    }

    /// Whether a member has a secret, a signature, or a cursor that is not a user's id.
    private func isToken(_ value: JSONValue, of name: String) -> Bool {
        Self.tokens.contains(name) || name == "next_cursor" && UUID(wireString: value.string ?? "") == nil
    }

    private func text(_ text: String) -> String {
        var text = text
        for (placeholder, value) in hidden { text = text.replacing(value, with: placeholder) }
        return text.replacing(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/.ignoresCase(), with: "<uuid>")
            .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "<time>")
            .replacing(/exp=\d+/, with: "exp=<number>").replacing(/sig=[\w-]+/, with: "sig=<token>")
    }
}
