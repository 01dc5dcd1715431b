/// How large the parts of a message may be; what is larger is refused by the writer and by the reader.
public enum EnvelopeLimits {
    /// The largest body, in bytes. Bodies carry ids; whatever needs more belongs into the database or the blob store.
    public static let bodyBytesMax = 64 * 1024
    /// The longest key, in bytes of UTF-8.
    public static let keyBytesMax = 200
    /// The longest type name, in bytes of UTF-8.
    public static let typeBytesMax = 64
    /// The longest trace parent, in bytes; version 00 of the W3C format has 55.
    public static let traceparentBytesMax = 128
    /// The longest request id, in bytes of UTF-8.
    public static let requestIDBytesMax = 128

    /// The most fields of a stream entry, unknown ones included.
    public static let fieldsMax = 64

    static func check(body: [UInt8]) throws(WireFormatError) {
        guard body.count <= bodyBytesMax else {
            throw WireFormatError(.bodyTooLarge, "the body has \(body.count) bytes, the limit is \(bodyBytesMax)")
        }
    }

    static func check(_ field: String, _ value: String, bytesMax: Int) throws(WireFormatError) {
        guard !value.isEmpty, value.utf8.count <= bytesMax else {
            throw WireFormatError(.invalidField(field), "field \(field) has \(value.utf8.count) bytes, allowed are 1 to \(bytesMax)")
        }
    }
}
