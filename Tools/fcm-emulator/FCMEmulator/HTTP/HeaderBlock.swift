import NIOHPACK

/// The rules for the fields of a request in HTTP/2 (RFC 9113 §§ 8.2 and 8.3). A request that breaks one is malformed.
///
/// NIO's handler has the same rules for both directions, but spends a fifth of the emulator's instructions on them.
enum HeaderBlock {
    private struct Pseudo: OptionSet {
        let rawValue: UInt8

        static let method = Pseudo(rawValue: 1)
        static let scheme = Pseudo(rawValue: 2)
        static let path = Pseudo(rawValue: 4)
        static let authority = Pseudo(rawValue: 8)
    }

    /// Whether the fields may begin a request.
    static func isRequest(_ headers: HPACKHeaders) -> Bool {
        var seen: Pseudo = []
        var hasRegular = false
        var isConnect = false
        for (name, value, _) in headers {
            let isPseudo = name.utf8.first == UInt8(ascii: ":")
            if !isPseudo {
                hasRegular = true
                guard isRegular(name, value), name != "te" || value == "trailers" else { return false }
                continue
            }
            guard !hasRegular, let field = pseudo(name), !seen.contains(field), isPseudoValue(value) else { return false }
            seen.insert(field)
            if field == .method { isConnect = value == "CONNECT" }
            if field == .path, value.isEmpty { return false }
        }
        return isConnect ? seen == [.method, .authority] : seen.isSuperset(of: [.method, .scheme, .path])
    }

    /// Whether the fields may end a request.
    static func isTrailer(_ headers: HPACKHeaders) -> Bool {
        headers.allSatisfy { name, value, _ in isRegular(name, value) }
    }

    private static func pseudo(_ name: String) -> Pseudo? {
        switch name {
        case ":method": .method
        case ":scheme": .scheme
        case ":path": .path
        case ":authority": .authority
        default: nil
        }
    }

    private static func isRegular(_ name: String, _ value: String) -> Bool {
        isName(name) && !isConnectionSpecific(name) && !contains(value) { $0 == 0 || $0 == 10 || $0 == 13 }
    }

    /// By their lengths first, because a comparison of texts costs more.
    private static func isConnectionSpecific(_ name: String) -> Bool {
        switch name.utf8.count {
        case 7: name == "upgrade"
        case 10: name == "connection" || name == "keep-alive"
        case 16: name == "proxy-connection"
        case 17: name == "transfer-encoding"
        default: false
        }
    }

    /// Stricter than § 8.2.1, as NIO is: a space would divide the request line of HTTP/1.1.
    private static func isPseudoValue(_ value: String) -> Bool { !contains(value) { $0 <= 0x20 || $0 == 0x7F } }

    /// Whether the name is a token in lower case.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && !contains(name) { byte in
                let set = byte < 64 ? nameBytesBelow64 : nameBytesFrom64
                return byte >= 128 || set >> UInt64(byte & 63) & 1 == 0
            }
    }

    private static let nameBytesBelow64 = bits("!#$%&'*+-.0123456789", from: 0)
    private static let nameBytesFrom64 = bits("^_`abcdefghijklmnopqrstuvwxyz|~", from: 64)

    private static func bits(_ characters: String, from start: UInt8) -> UInt64 {
        characters.utf8.reduce(0) { $0 | 1 << UInt64($1 - start) }
    }

    @inline(__always)
    private static func contains(_ text: String, _ isWrong: (UInt8) -> Bool) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            for byte in bytes where isWrong(byte) { return true }
            return false
        }
    }
}
