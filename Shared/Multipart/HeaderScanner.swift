/// Reads tokens and parameters from one header value in a single pass.
struct HeaderScanner {
    /// The meaning of a backslash inside a quoted string.
    enum Escapes {
        /// As in RFC 9110: the byte after the backslash stands for itself.
        case quotedPair
        /// As senders of form data do it: only `\"` and `\\` are escapes (a Windows path keeps its backslashes), and
        /// `%22`, `%0D` and `%0A` stand for the three characters that browsers must not send.
        case formData
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipBlanks() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes the longest run of token characters and of `extra`, which joins two tokens.
    mutating func takeToken(extra: UInt8? = nil) -> String? {
        skipBlanks()
        let token = rest.prefix { Self.isTokenByte($0) || $0 == extra }
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    /// Takes `; name=value` until the end of the header. Names come out in lower case.
    mutating func takeParameters(
        escapes: Escapes, else code: MultipartError.Code
    ) throws(MultipartError) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        while true {
            skipBlanks()
            if isAtEnd { return parameters }
            guard take(UInt8(ascii: ";")) else { throw MultipartError(code, "no semicolon before a parameter") }
            skipBlanks()
            if isAtEnd { return parameters }  // a trailing semicolon is harmless, and some clients send it
            guard let name = takeToken(), take(UInt8(ascii: "=")) else {
                throw MultipartError(code, "a parameter without a name or a value")
            }
            guard let value = takeValue(escapes), let text = String(validating: value, as: UTF8.self) else {
                throw MultipartError(code, "a parameter value that is open-ended, empty or not UTF-8")
            }
            parameters.append((name.lowercased(), text))
        }
    }

    private mutating func takeValue(_ escapes: Escapes) -> [UInt8]? {
        if take(UInt8(ascii: "\"")) { return takeQuoted(escapes) }
        let bare = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard !bare.isEmpty, !bare.contains(UInt8(ascii: "\"")) else { return nil }
        rest = rest[bare.endIndex...]
        return Array(bare)
    }

    private mutating func takeQuoted(_ escapes: Escapes) -> [UInt8]? {
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                return escapes == .formData ? Self.decodeBrowserEscapes(value) : value
            case UInt8(ascii: "\\"):
                guard let next = rest.first else { return nil }
                if escapes == .quotedPair || next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") {
                    rest.removeFirst()
                    value.append(next)
                } else {
                    value.append(byte)
                }
            default:
                value.append(byte)
            }
        }
        return nil
    }

    private static func decodeBrowserEscapes(_ value: [UInt8]) -> [UInt8] {
        guard value.contains(UInt8(ascii: "%")) else { return value }
        var decoded: [UInt8] = []
        var index = 0
        while index < value.count {
            if value[index] == UInt8(ascii: "%"), index + 2 < value.count,
                let byte = hexByte(value[index + 1], value[index + 2]), [0x22, 0x0D, 0x0A].contains(byte)
            {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(value[index])
                index += 1
            }
        }
        return decoded
    }

    /// Decodes the value of an extended parameter (RFC 8187): `UTF-8'language'percent-encoded`.
    static func decodeExtended(_ value: String) -> String? {
        let pieces = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, String(decoding: Array(pieces[0]), as: UTF8.self).lowercased() == "utf-8" else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(pieces[2])[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(), let decoded = hexByte(high, low) else { return nil }
            bytes.append(decoded)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func hexByte(_ high: UInt8, _ low: UInt8) -> UInt8? {
        guard let high = hexDigit(high), let low = hexDigit(low) else { return nil }
        return high << 4 | low
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
