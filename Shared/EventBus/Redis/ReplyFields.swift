import RedisClient
import WireFormat

/// The fields of an entry in a reply of Redis.
struct ReplyFields: StreamFields {
    private let fields: RedisStreamFields

    init(_ entry: RedisStreamEntry) {
        fields = entry.fields
    }

    var count: Int { fields.count }

    func read(from start: Int, _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        fields.read(from: start, body)
    }
}
