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
        let capacity = 320 + envelope.key.utf8.count + envelope.body.count
        return xadd(key, fieldCount: envelope.fieldCount, capacity: capacity) { encoder in
            envelope.forEachField { field, value in
                encoder.append(field.rawValue)
                switch value {
                case .id(let id): id.withWireText { encoder.append($0) }
                case .text(let text): encoder.append(text)
                case .number(let number): encoder.append(number)
                case .bytes(let bytes): encoder.append(bytes)
                }
            }
        }
    }
}
