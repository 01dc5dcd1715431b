internal import RedisClient
internal import WireFormat

extension OutgoingEntry {
    /// About the bytes of its `XADD`.
    var approximateByteCount: Int {
        switch contents {
        case .fields(let fields): fields.reduce(160) { $0 + $1.name.utf8.count + $1.value.count + 16 }
        case .envelope(let envelope): 400 + envelope.key.utf8.count + envelope.body.count
        }
    }
}

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
