/// Reads and writes base64 with the URL-safe alphabet and without padding (RFC 4648 §5).
public enum Base64URL {
    /// Returns the text of some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        Base64Coding.encode(bytes, alphabet: Base64Coding.urlSafe, isPadded: false, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the bytes of a text, or nil when it has characters outside the alphabet or an invalid end.
    public static func decode(_ text: String) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0, values: Base64Coding.urlSafeValues) }
    }
}

/// Reads and writes base64 with the standard alphabet and padding (RFC 4648 §4).
public enum Base64 {
    /// Returns the padded text of some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        encode(bytes, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the padded text of some bytes to a text.
    public static func encode(_ bytes: [UInt8], into output: inout [UInt8]) {
        Base64Coding.encode(bytes, alphabet: Base64Coding.standard, isPadded: true, into: &output)
    }

    /// Returns the bytes of a padded text, or nil when it is not canonical base64.
    public static func decode(_ text: String) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { decode($0) }
    }

    /// Returns the bytes of a padded text in memory, or nil when it is not canonical base64.
    public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var count = text.count
        for _ in 0..<2 where count > 0 && text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        return Base64Coding.decode(UnsafeRawBufferPointer(rebasing: text[..<count]), values: Base64Coding.standardValues)
    }
}

/// The coding for both alphabets. It handles pictures of megabytes, so it writes into memory of the final size, four symbols at once.
private enum Base64Coding {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    static let standard = letters + Array("+/".utf8)
    static let urlSafe = letters + Array("-_".utf8)
    static let standardValues = values(of: standard)
    static let urlSafeValues = values(of: urlSafe)
    /// Bytes encoded at once; a multiple of three, so that only the last piece is padded.
    private static let pieceByteCount = 48 * 1024
    /// The table entry of a byte that is not a symbol; no value has its highest bit.
    private static let none: UInt8 = 0x80

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: none, count: 256)
        for (value, symbol) in alphabet.enumerated() { values[Int(symbol)] = UInt8(value) }
        return values
    }

    /// Appends the text of some bytes in pieces, so that the whole text is never in memory twice.
    static func encode(_ bytes: [UInt8], alphabet: [UInt8], isPadded: Bool, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
        bytes.withUnsafeBufferPointer { bytes in
            alphabet.withUnsafeBufferPointer { alphabet in
                for start in stride(from: 0, to: bytes.count, by: pieceByteCount) {
                    let piece = UnsafeBufferPointer(rebasing: bytes[start..<min(start + pieceByteCount, bytes.count)])
                    output += [UInt8](unsafeUninitializedCapacity: (piece.count + 2) / 3 * 4) { text, count in
                        count = encode(piece, alphabet, isPadded: isPadded, into: text)
                    }
                }
            }
        }
    }

    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, _ alphabet: UnsafeBufferPointer<UInt8>, isPadded: Bool,
        into text: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var (read, written) = (0, 0)
        while read < bytes.count {
            let left = bytes.count - read
            let second = left > 1 ? bytes[read + 1] : 0
            let third = left > 2 ? bytes[read + 2] : 0
            let triple = UInt32(bytes[read]) << 16 | UInt32(second) << 8 | UInt32(third)
            text[written] = alphabet[Int(triple >> 18)]
            text[written + 1] = alphabet[Int(triple >> 12 & 63)]
            written += 2
            if left > 1 || isPadded {
                text[written] = left > 1 ? alphabet[Int(triple >> 6 & 63)] : UInt8(ascii: "=")
                written += 1
            }
            if left > 2 || isPadded {
                text[written] = left > 2 ? alphabet[Int(triple & 63)] : UInt8(ascii: "=")
                written += 1
            }
            read += 3
        }
        return written
    }

    /// Decodes unpadded symbols; the unused bits of the last symbol must be zero, so that a value has one spelling.
    static func decode(_ symbols: UnsafeRawBufferPointer, values: [UInt8]) -> [UInt8]? {
        let rest = symbols.count % 4
        guard rest != 1 else { return nil }
        // The bitwise "or" of all values: its highest bit shows at the end whether there was a byte that is not a symbol.
        var seen: UInt8 = 0
        let output = [UInt8](unsafeUninitializedCapacity: symbols.count / 4 * 3 + max(0, rest - 1)) { output, count in
            values.withUnsafeBufferPointer { values in
                var read = 0
                while read + 4 <= symbols.count {
                    let first = values[Int(symbols[read])]
                    let second = values[Int(symbols[read + 1])]
                    let third = values[Int(symbols[read + 2])]
                    let fourth = values[Int(symbols[read + 3])]
                    seen |= first | second | third | fourth
                    output[count] = first << 2 | second >> 4
                    output[count + 1] = second << 4 | third >> 2
                    output[count + 2] = third << 6 | fourth
                    count += 3
                    read += 4
                }
                guard rest > 0 else { return }
                let first = values[Int(symbols[read])]
                let second = values[Int(symbols[read + 1])]
                let third = rest > 2 ? values[Int(symbols[read + 2])] : 0
                seen |= first | second | third
                output[count] = first << 2 | second >> 4
                if rest > 2 { output[count + 1] = second << 4 | third >> 2 }
                // Set bits beyond the last byte make the text not canonical.
                if (rest == 2 ? second << 4 : third << 6) != 0 { seen |= none }
                count += rest - 1
            }
        }
        return seen & none == 0 ? output : nil
    }
}
