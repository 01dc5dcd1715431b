/// Reads and writes base64 with the URL-safe alphabet and without padding (RFC 4648 §5).
public enum Base64URL {
    /// Returns the text of some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Coding.encode(bytes, alphabet: Base64Coding.urlSafe, padding: false)
    }

    /// Returns the bytes of a text, or nil when it holds anything but the alphabet or does not end where it must.
    public static func decode(_ text: String) -> [UInt8]? {
        Base64Coding.decode(text.utf8, sixtyTwo: UInt8(ascii: "-"), sixtyThree: UInt8(ascii: "_"))
    }
}

/// Reads and writes base64 with the standard alphabet and padding (RFC 4648 §4).
public enum Base64 {
    /// Returns the padded text of some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Coding.encode(bytes, alphabet: Base64Coding.standard, padding: true)
    }

    /// Returns the bytes of a padded text, or nil when it is not exactly that.
    public static func decode(_ text: String) -> [UInt8]? {
        let symbols = text.utf8
        guard symbols.count % 4 == 0 else { return nil }
        let padding = symbols.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
        if padding == 2 && symbols.last != UInt8(ascii: "=") { return nil }
        if padding == 1 && symbols.last != UInt8(ascii: "=") { return nil }
        return Base64Coding.decode(
            symbols.dropLast(padding), sixtyTwo: UInt8(ascii: "+"), sixtyThree: UInt8(ascii: "/"))
    }
}

private enum Base64Coding {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    static let standard = letters + Array("+/".utf8)
    static let urlSafe = letters + Array("-_".utf8)

    static func encode(_ bytes: [UInt8], alphabet: [UInt8], padding: Bool) -> String {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var accumulator: UInt32 = 0
        var bits = 0
        for byte in bytes {
            accumulator = accumulator << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                output.append(alphabet[Int(accumulator >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { output.append(alphabet[Int(accumulator << UInt32(6 - bits) & 63)]) }
        while padding && output.count % 4 != 0 { output.append(UInt8(ascii: "=")) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes unpadded symbols; the unused bits of the last symbol must be zero, so that a value has one spelling.
    static func decode(_ symbols: some Collection<UInt8>, sixtyTwo: UInt8, sixtyThree: UInt8) -> [UInt8]? {
        guard symbols.count % 4 != 1 else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(symbols.count * 3 / 4)
        var accumulator: UInt32 = 0
        var bits = 0
        for symbol in symbols {
            let value: UInt8
            switch symbol {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = symbol - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = symbol - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = symbol - UInt8(ascii: "0") + 52
            case sixtyTwo: value = 62
            case sixtyThree: value = 63
            default: return nil
            }
            accumulator = accumulator << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)))
            }
            accumulator &= (1 << UInt32(bits)) - 1
        }
        return accumulator == 0 ? output : nil
    }
}
