internal import FoundationEssentials
internal import JSON
internal import Storage
internal import WireFormat

/// A device's validated receipts: `[{notification_id | message_id | job_id | session_id | event_id, event, at?}]`.
struct ReceiptBody: Sendable {
    /// The maximum number of receipts in one request.
    static let maxReceipts = 100

    let receipts: [Receipt]

    /// Reads the receipts.
    ///
    /// - Parameter now: The time of receipts without `at`.
    /// - Throws: `missing_field` or `invalid_request`, which name the index and the field, as in `[3].event`.
    init(parsing bytes: [UInt8], now: Date = Date()) throws(APIError) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: bytes, limits: .request) } catch {
            throw APIError(error, byteCount: bytes.count)
        }
        guard case .array(let items) = value else { throw APIError(.invalidRequest, "The body is an array of receipts") }
        guard items.count <= Self.maxReceipts else {
            throw APIError(.invalidRequest, "There are up to \(Self.maxReceipts) receipts in a request")
        }
        var receipts: [Receipt] = []
        for (index, item) in items.enumerated() {
            guard let body = JSONBody(item) else { throw APIError(.invalidRequest, "A receipt is an object", field: "[\(index)]") }
            do throws(APIError) {
                receipts.append(try Self.receipt(body, now: now))
            } catch {
                throw APIError(error.code, error.message, field: "[\(index)]" + (error.field.map { ".\($0)" } ?? ""))
            }
        }
        self.receipts = receipts
    }

    private static func receipt(_ body: JSONBody, now: Date) throws(APIError) -> Receipt {
        guard let event = Receipt.Event(rawValue: try body.requiredWord("event")) else {
            let events = Receipt.Event.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIError(.invalidRequest, "A push was one of \(events)", field: "event")
        }
        return Receipt(subject: try subject(body), event: event, at: try body.instant("at") ?? now)
    }

    private static func subject(_ body: JSONBody) throws(APIError) -> Receipt.Subject {
        if let id = try identifier("notification_id", body) { return .notification(id) }
        if let text = try body.word("message_id") {
            // An app may take the id from the push's identifier, which continues after a colon.
            return .message(try ChatMessage.checkedID(String(text.prefix { $0 != ":" })))
        }
        if let id = try identifier("job_id", body) { return .imageJob(id) }
        if let id = try identifier("session_id", body) { return .session(id) }
        if let text = try body.word("event_id") {
            // As in pushes, or the whole name of the topic.
            guard let name = TopicName(text.hasPrefix("event:") ? text : "event:\(text)") else {
                throw APIError(.invalidRequest, "This is no id of an event", field: "event_id")
            }
            return .event(name)
        }
        throw APIError(.missingField, "It is not said of which push", field: "notification_id")
    }

    private static func identifier(_ name: String, _ body: JSONBody) throws(APIError) -> UUID? {
        guard let text = try body.word(name) else { return nil }
        guard let id = UUID(wireString: text) else { throw APIError(.invalidRequest, "The id is no UUID", field: name) }
        return id
    }
}
