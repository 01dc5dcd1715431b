/// The escapes in texts of JSON (RFC 8259 §7).
enum JSONEscapes {
    /// Returns the bytes of the escape at a backslash, a pair of surrogates being one; nil when it is not valid.
    static func length(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int? {
        guard position + 1 < text.count else { return nil }
        if text[position + 1] == UInt8(ascii: "u") {
            guard let unit = unit(text, at: position) else { return nil }
            if UTF16.isTrailSurrogate(unit) { return nil }
            guard UTF16.isLeadSurrogate(unit) else { return 6 }
            guard let trail = self.unit(text, at: position + 6), UTF16.isTrailSurrogate(trail) else { return nil }
            return 12
        }
        return character(text[position + 1]) == nil ? nil : 2
    }

    /// Returns the characters of a text whose escapes are valid.
    static func resolve(_ text: UnsafeBufferPointer<UInt8>) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        var position = 0
        while position < text.count {
            let byte = text[position]
            guard byte == UInt8(ascii: "\\"), position + 1 < text.count else {
                output.append(byte)
                position += 1
                continue
            }
            if let character = character(text[position + 1]) {
                output.append(character)
                position += 2
            } else {
                let first = unit(text, at: position) ?? 0xFFFD
                let isPair = UTF16.isLeadSurrogate(first)
                let units = isPair ? [first, unit(text, at: position + 6) ?? 0xFFFD] : [first]
                output.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
                position += isPair ? 12 : 6
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The character of an escape of two bytes, by its second; nil when there is none.
    private static func character(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The UTF-16 unit of `\uXXXX`; nil when there is none.
    private static func unit(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt16? {
        guard position + 6 <= text.count, text[position] == UInt8(ascii: "\\"), text[position + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt16 = 0
        for digit in text[(position + 2)..<(position + 6)] {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(value)
        }
        return unit
    }
}
