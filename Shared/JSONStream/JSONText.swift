/// The lexical rules of JSON texts.
enum JSONText {
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Decodes the bytes between two quotation marks.
    static func unescape(_ bytes: ArraySlice<UInt8>) throws(JSONStreamError) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte >= 0x20 else { throw JSONStreamError(.malformed, "a control character in a text") }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            let scalar = try unescapeOne(&rest)
            text.append(contentsOf: UTF8.encode(scalar)!)
        }
        guard let text = String(validating: text, as: UTF8.self) else { throw JSONStreamError(.malformed, "a text is not UTF-8") }
        return text
    }

    /// Decodes the escape after a backslash, including the second half of a surrogate pair.
    private static func unescapeOne(_ rest: inout ArraySlice<UInt8>) throws(JSONStreamError) -> Unicode.Scalar {
        guard let kind = rest.popFirst() else { throw JSONStreamError(.malformed, "an escape that does not end") }
        guard kind == UInt8(ascii: "u") else {
            guard let byte = simpleEscape(kind) else { throw JSONStreamError(.malformed, "an escape that JSON does not know") }
            return Unicode.Scalar(byte)
        }
        let first = try hexUnit(&rest)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u") else {
            throw JSONStreamError(.malformed, "half a surrogate pair")
        }
        let second = try hexUnit(&rest)
        guard UTF16.isTrailSurrogate(second) else { throw JSONStreamError(.malformed, "half a surrogate pair") }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private static func hexUnit(_ rest: inout ArraySlice<UInt8>) throws(JSONStreamError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst().flatMap(hexDigit) else {
                throw JSONStreamError(.malformed, "an escape without four hexadecimal digits")
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// The byte for the letter of an escape; nil when JSON has no such escape.
    static func simpleEscape(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
