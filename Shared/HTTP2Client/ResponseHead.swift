/// The head of an answer, as it comes field by field.
///
/// Of an answer that says yes (2xx) only the status is kept: nobody asks for the rest, and there are many of them.
struct ResponseHead {
    /// The status; 0 until it has come.
    private(set) var status = 0
    private(set) var fields: [(name: String, value: String)] = []
    private var byteCount = 0
    private var isTrailer = false

    var isFinal: Bool { status >= 200 }

    /// Notes that a block of fields begins: the head, one that announces it (1xx), or what follows the body.
    mutating func begin() {
        isTrailer = isFinal
        if !isTrailer { status = 0 }
    }

    /// Takes a field; returns false when all fields together are larger than `byteCountMax`.
    mutating func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, byteCountMax: Int) -> Bool {
        byteCount += name.count + value.count
        guard byteCount <= byteCountMax else { return false }
        if isTrailer { return true }
        if name.first == UInt8(ascii: ":") {
            // The only field of this kind that an answer has is :status, three digits, and nghttp2 has checked both.
            status = value.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
        } else if status >= 300 {
            fields.append((name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self)))
        }
        return true
    }
}
