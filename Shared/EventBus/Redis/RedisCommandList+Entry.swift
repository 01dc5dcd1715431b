internal import RedisClient
internal import WireFormat

extension RedisCommandList {
    /// Adds `XADD` of an entry; a message is written without an array for each of its fields.
    mutating func xadd(_ key: String, _ entry: OutgoingEntry) {
        switch entry.contents {
        case .fields(let fields):
            xadd(key, fieldCount: fields.count) { encoder in
                for field in fields {
                    encoder.append(field.name)
                    encoder.append(field.value)
                }
            }
        case .envelope(let envelope):
            xadd(key, fieldCount: envelope.fieldCount) { encoder in
                envelope.forEachField { name, value in
                    encoder.append(name)
                    encoder.append(value)
                }
            }
        }
    }
}
