import FoundationEssentials
import JSON
import Synchronization

/// The newest requests of `messages:send` and of the token endpoint, and the newest mails, with their outcomes.
final class RequestLog: Sendable {
    /// One request.
    struct Record: Sendable {
        let at: Date
        let endpoint: FaultRule.Endpoint
        /// The connection and, under HTTP/2, the stream of the request.
        let line: Line
        /// The registration; of a mail the recipients.
        var registration: String?
        /// The HTTP status, or the reply code of a mail; nil when there was no answer.
        var status: Int?
        /// The refusal, in FCM's words.
        var refusal: FCMRefusal?
        /// The number of the fault rule applied to it.
        var fault: Int?
        /// Whether the message was accepted, even when the answer says otherwise.
        var isAccepted = false
        /// The start of a body that was refused.
        var body: [UInt8]?
    }

    /// A connection and one of its streams.
    struct Line: Sendable, Equatable {
        let connection: Int
        var stream: Int?
    }

    /// Maximum length of the kept start of a refused body, in bytes.
    static let maxBodyBytes = 4_096

    private let records: Mutex<Ring<Record>>

    init(limit: Int) { records = Mutex(Ring(capacity: limit)) }

    func append(_ record: Record) { records.withLock { _ = $0.append(record) } }

    func clear() { records.withLock { $0.removeAll() } }

    /// Returns the newest records that match, oldest first.
    func newest(_ count: Int, where matches: (Record) -> Bool = { _ in true }) -> [Record] {
        let all = records.withLock { Array($0.suffix()) }
        return Array(all.filter(matches).suffix(count))
    }
}

extension RequestLog.Record {
    /// The JSON that the control API shows.
    var json: JSONValue {
        var json: JSONValue = [:]
        json["at"] = .string(RFC3339.string(at))
        json["endpoint"] = .string(endpoint.rawValue)
        json["connection"] = .integer(line.connection)
        json["stream"] = line.stream.map(JSONValue.integer)
        json[endpoint == .mail ? "to" : "token"] = registration.map(JSONValue.string)
        json["status"] = status.map(JSONValue.integer) ?? .null
        json["accepted"] = .bool(isAccepted)
        json["fault"] = fault.map(JSONValue.integer)
        if let refusal { json["error"] = .string(refusal.message) }
        if let body { json["body"] = .string(String(decoding: body, as: UTF8.self)) }
        return json
    }
}
