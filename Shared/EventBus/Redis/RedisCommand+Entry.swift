internal import RedisClient
internal import WireFormat

extension RedisCommand {
    /// `XADD` of an entry; a message is written without an array for each of its fields.
    static func xadd(_ key: String, _ entry: OutgoingEntry) -> RedisCommand {
        switch entry.contents {
        case .fields(let fields): xadd(key, fields: fields)
        case .envelope(let envelope): xadd(key, envelope)
        }
    }

    /// `XADD` of a message, with the fields of ``EncodedEnvelope/streamFields``.
    private static func xadd(_ key: String, _ envelope: EncodedEnvelope) -> RedisCommand {
        typealias Field = EncodedEnvelope.Field
        let optional = (envelope.traceparent == nil ? 0 : 1) + (envelope.requestID == nil ? 0 : 1) + (envelope.expiresAt == nil ? 0 : 1)
        let capacity = 320 + envelope.key.utf8.count + envelope.body.count
        return xadd(key, fieldCount: 6 + optional, capacity: capacity) { encoder in
            encoder.append(Field.id)
            encoder.append(envelope.id.wireString)
            encoder.append(Field.type)
            encoder.append(envelope.type.rawValue)
            encoder.append(Field.version)
            encoder.append(envelope.version)
            encoder.append(Field.key)
            encoder.append(envelope.key)
            encoder.append(Field.occurredAt)
            encoder.append(envelope.occurredAt.millisecondsSince1970)
            if let traceparent = envelope.traceparent {
                encoder.append(Field.traceparent)
                encoder.append(traceparent)
            }
            if let requestID = envelope.requestID {
                encoder.append(Field.requestID)
                encoder.append(requestID)
            }
            if let expiresAt = envelope.expiresAt {
                encoder.append(Field.expiresAt)
                encoder.append(expiresAt.millisecondsSince1970)
            }
            encoder.append(Field.body)
            encoder.append(envelope.body)
        }
    }
}
