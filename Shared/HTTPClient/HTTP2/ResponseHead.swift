/// The head of a response, collected field by field.
///
/// Of a 2xx response only the status is kept: its fields are not used, and such responses are frequent.
struct ResponseHead {
    /// The status; 0 until it is received.
    private(set) var status = 0
    private(set) var fields: [(name: String, value: String)] = []
    private var byteCount = 0
    private var isTrailer = false

    var isFinal: Bool { status >= 200 }

    /// Begins a block of fields: an interim head (1xx), the final head, or the trailers.
    mutating func begin() {
        isTrailer = isFinal
        if !isTrailer { status = 0 }
    }

    /// Adds a field; returns false when all fields together are larger than `maxByteCount`.
    mutating func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, maxByteCount: Int) -> Bool {
        byteCount += name.count + value.count
        guard byteCount <= maxByteCount else { return false }
        if isTrailer { return true }
        if name.first == UInt8(ascii: ":") {
            // A response has only one pseudo-header field, :status with three digits; nghttp2 has checked both.
            status = value.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
        } else if status >= 300 {
            fields.append((name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self)))
        }
        return true
    }
}
