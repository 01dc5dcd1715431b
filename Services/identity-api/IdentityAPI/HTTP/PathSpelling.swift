/// The one spelling of a path and its query, in which letters, digits and `-._~` stand for themselves (RFC 3986 §6.2.2.2).
enum PathSpelling {
    /// Returns a path without needless escapes, such as `%73` for s; nil when it has no such escape.
    static func decoded(_ path: String) -> String? {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return nil }
        var decoded: [UInt8] = []
        var rest = path.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16), isPlain(value) else {
                decoded.append(byte)
                continue
            }
            decoded.append(value)
            rest = rest.dropFirst(2)
        }
        return decoded.count < path.utf8.count ? String(decoding: decoded, as: UTF8.self) : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~".utf8.contains(byte)
        }
    }
}
