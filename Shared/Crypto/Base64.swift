internal import FoundationEssentials

/// Reads and writes base64 with the standard alphabet and padding (RFC 4648 §4). A value has one spelling.
public enum Base64 {
    /// Bytes encoded at once; a multiple of three, so that only the last piece is padded.
    private static let pieceByteCount = 48 * 1024

    /// Returns the padded text of some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }

    /// Appends the padded text of some bytes to a text, in pieces, so that the whole text is never in memory twice.
    public static func encode(_ bytes: [UInt8], into output: inout [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: pieceByteCount) {
            output += Data(bytes[start..<min(start + pieceByteCount, bytes.count)]).base64EncodedData()
        }
    }

    /// Returns the bytes of a padded text, or nil when it is not canonical base64.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(Data(text.utf8))
    }

    /// Returns the bytes of a padded text in memory, or nil when it is not canonical base64.
    public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        decode(Data(text))
    }

    fileprivate static func decode(_ text: Data) -> [UInt8]? {
        // Foundation ignores the unused bits of the last symbol, so the bytes are encoded again and compared.
        guard let bytes = Data(base64Encoded: text), bytes.base64EncodedData() == text else { return nil }
        return [UInt8](bytes)
    }
}

/// Reads and writes base64 with the URL-safe alphabet and without padding (RFC 4648 §5). A value has one spelling.
public enum Base64URL {
    /// Returns the text of some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        let symbols = Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }.map { symbol in
            switch symbol {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: symbol
            }
        }
        return String(decoding: symbols, as: UTF8.self)
    }

    /// Returns the bytes of a text, or nil when it has characters outside the alphabet or an invalid end.
    public static func decode(_ text: String) -> [UInt8]? {
        var symbols = Data(capacity: text.utf8.count + 3)
        for symbol in text.utf8 {
            switch symbol {
            case UInt8(ascii: "-"): symbols.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): symbols.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: symbols.append(symbol)
            }
        }
        while symbols.count % 4 != 0 { symbols.append(UInt8(ascii: "=")) }
        return Base64.decode(symbols)
    }
}
