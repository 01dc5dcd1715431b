internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import Push
internal import WireFormat

/// A device's validated receipts: `[{notification_id | message_id | job_id | session_id | event_id, event, at?}]`.
struct ReceiptBody: APIRequestBody {
    /// The maximum number of receipts in one request.
    private static let maxReceipts = 100
    private static let maxBytes = 64 * 1_024

    static let description: APIBody? = .json(
        .array(of: BodyFields<Receipt>.receipt.schema, upTo: maxReceipts), upTo: maxBytes,
        example: [["event": "opened", "notification_id": "4d3c2b1a-0f9e-4d8c-a7b6-c5d4e3f2a1b0", "at": "2025-10-27T10:00:00Z"]])

    let receipts: [Receipt]

    static func read(_ request: Request, _ context: APIRequestContext) async throws -> ReceiptBody {
        try ReceiptBody(parsing: try await request.collectJSON(upTo: maxBytes, context))
    }

    /// Reads the receipts.
    ///
    /// - Throws: `missing_field` or `invalid_request`, which name the index and the field, as in `[3].event`.
    // Inlined into an async function, it may crash the optimiser, as in ``JSONObjectBody``.
    @inline(never)
    private init(parsing bytes: [UInt8]) throws(APIError) {
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
                receipts.append(try BodyFields<Receipt>.receipt.read(body))
            } catch {
                throw APIError(error.code, error.message, field: "[\(index)]" + (error.field.map { ".\($0)" } ?? ""))
            }
        }
        self.receipts = receipts
    }
}

extension BodyFields<Receipt> {
    fileprivate static let receipt = BodyFields(.event, .optionalInstant("at"), .subject) { event, time, subject throws(APIError) in
        guard let subject else {
            throw APIError(.missingField, "It is not said of which push", field: "notification_id")
        }
        return Receipt(subject: subject, event: event, at: time ?? Date())
    }
}

extension BodyFields<Receipt.Event> {
    fileprivate static let event = BodyFields("event", .one(of: Receipt.Event.self)) { body, name throws(APIError) in
        guard let event = Receipt.Event(rawValue: try body.requiredWord(name)) else {
            let events = Receipt.Event.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIError(.invalidRequest, "A push was one of \(events)", field: name)
        }
        return event
    }
}

extension BodyFields<Receipt.Subject?> {
    /// The push, by its id or by its subject: the first that is named counts.
    fileprivate static let subject: BodyFields = .first(of: [
        id("notification_id") { .notification($0) },
        BodyFields("message_id", .text.orNull, isRequired: false) { body, name throws(APIError) in
            guard let text = try body.word(name) else { return nil }
            // An app may take the id from the push's identifier, which continues after a colon.
            return .message(try ChatMessage.checkedID(String(text.prefix { $0 != ":" })))
        },
        id("job_id") { .imageJob($0) }, id("session_id") { .session($0) },
        BodyFields("event_id", .text.orNull, isRequired: false) { body, name throws(APIError) in
            guard let text = try body.word(name) else { return nil }
            // As in pushes, or the whole name of the topic.
            guard let event = TopicName(text.hasPrefix("event:") ? text : "event:\(text)") else {
                throw APIError(.invalidRequest, "This is no id of an event", field: name)
            }
            return .event(event)
        },
    ])

    private static func id(_ name: String, _ subject: @escaping @Sendable (UUID) -> Receipt.Subject) -> BodyFields {
        BodyFields(name, .uuid.orNull, isRequired: false) { body, name throws(APIError) in
            guard let text = try body.word(name) else { return nil }
            guard let id = UUID(wireString: text) else { throw APIError(.invalidRequest, "The id is no UUID", field: name) }
            return subject(id)
        }
    }
}
