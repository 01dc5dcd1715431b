import FoundationEssentials
import Synchronization

/// The newest requests of `messages:send` and of the token endpoint, and what came of them.
final class RequestLog: Sendable {
    /// One request.
    struct Record: Sendable {
        let at: Date
        let endpoint: FaultRule.Endpoint
        /// The connection and, under HTTP/2, the stream that it came by.
        let line: Line
        var registration: String?
        /// The HTTP status; nil when there was no answer.
        var status: Int?
        /// What was wrong, in FCM's words.
        var refusal: FCMRefusal?
        /// The fault that it suffered, by its number.
        var fault: Int?
        /// Whether the message was accepted: also when the answer says otherwise.
        var isAccepted = false
        /// The start of a body that was refused.
        var body: [UInt8]?
    }

    /// Which connection, and which of its streams.
    struct Line: Sendable, Equatable {
        let connection: Int
        var stream: Int?
    }

    /// How much of a refused body is kept, in bytes.
    static let bodyBytesMax = 4_096

    private let records: Mutex<Ring<Record>>

    init(limit: Int) { records = Mutex(Ring(capacity: limit)) }

    func append(_ record: Record) { records.withLock { _ = $0.append(record) } }

    func clear() { records.withLock { $0.removeAll() } }

    /// The newest that match, oldest first.
    func newest(_ count: Int, where matches: (Record) -> Bool = { _ in true }) -> [Record] {
        let all = records.withLock { Array($0.suffix()) }
        return Array(all.filter(matches).suffix(count))
    }
}

extension RequestLog.Record {
    /// As the control API shows it.
    var json: JSONValue {
        var json = JSONObject()
        json["at"] = .string(RFC3339.string(at))
        json["endpoint"] = .string(endpoint.rawValue)
        json["connection"] = JSONValue(line.connection)
        json["stream"] = line.stream.map { JSONValue($0) }
        json["token"] = registration.map(JSONValue.string)
        json["status"] = status.map { JSONValue($0) } ?? .null
        json["accepted"] = .bool(isAccepted)
        json["fault"] = fault.map { JSONValue($0) }
        if let refusal { json["error"] = .string(refusal.message) }
        if let body { json["body"] = .string(String(decoding: body, as: UTF8.self)) }
        return .object(json)
    }
}
