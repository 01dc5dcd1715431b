/// The size limits of a message; the writer and the reader refuse larger parts.
public enum EnvelopeLimits {
    /// The largest body, in bytes. Bodies carry ids; larger data belongs into the database or the blob store.
    public static let maxBodyBytes = 64 * 1024
    /// The longest key, in bytes of UTF-8.
    public static let maxKeyBytes = 200
    /// The longest type name, in bytes of UTF-8.
    public static let maxTypeBytes = 64
    /// The longest trace parent, in bytes; version 00 of the W3C format has 55.
    public static let maxTraceparentBytes = 128
    /// The longest request id, in bytes of UTF-8.
    public static let maxRequestIDBytes = 128

    /// The maximum number of fields of a stream entry, unknown ones included.
    public static let maxFields = 64

    static func check(bodyBytes count: Int) throws(WireFormatError) {
        guard count <= maxBodyBytes else {
            throw WireFormatError(.bodyTooLarge, "the body has \(count) bytes, the limit is \(maxBodyBytes)")
        }
    }

    static func check(_ field: String, _ value: String, maxBytes: Int) throws(WireFormatError) {
        guard !value.isEmpty, value.utf8.count <= maxBytes else {
            throw WireFormatError(.invalidField(field), "field \(field) has \(value.utf8.count) bytes, allowed are 1 to \(maxBytes)")
        }
    }
}
