import JSON

/// The target of a message.
enum MessageTarget: Sendable, Equatable {
    case token(String)
    case fid(String)
    case topic(String)
    case condition(String)

    /// Reads the target of a message; nil for a message without a target.
    init?(message: JSONValue) {
        if let token = message["token"]?.string {
            self = .token(token)
        } else if let fid = message["fid"]?.string {
            self = .fid(fid)
        } else if let topic = message["topic"]?.string {
            self = .topic(topic)
        } else if let condition = message["condition"]?.string {
            self = .condition(condition)
        } else {
            return nil
        }
    }

    /// The token or installation id; nil for a topic or condition.
    var registration: String? {
        switch self {
        case .token(let value), .fid(let value): value
        case .topic, .condition: nil
        }
    }

    /// Refuses a target that is malformed.
    func check() throws(FCMRefusal) {
        switch self {
        case .token(let token): if !RegistrationShape.isToken(token.utf8) { throw .badToken }
        case .fid(let fid): if !RegistrationShape.isFID(fid.utf8) { throw .badFID }
        case .topic(let topic): if !Self.isTopic(topic) { throw .badTopic }
        case .condition(let condition): if !TopicCondition.isValid(condition) { throw .badCondition }
        }
    }

    /// Whether the name matches `[a-zA-Z0-9-_.~%]+` and has at most 900 bytes.
    static func isTopic(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 900 && name.utf8.allSatisfy(isTopicByte)
    }

    static func isTopicByte(_ byte: UInt8) -> Bool {
        RegistrationShape.isURLSafe(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
            || byte == UInt8(ascii: "%")
    }
}

/// The formats of registration tokens and installation ids.
enum RegistrationShape {
    /// The longest token, in bytes.
    static let maximumBytes = 4096

    /// An installation's id or prefix of 11 to 64 characters, a colon, and at least 100 characters that begin with `APA91`.
    static func isToken(_ text: some Collection<UInt8>) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text.count <= maximumBytes else { return false }
        let (name, rest) = (text[..<colon], text[colon...].dropFirst())
        return (11...64).contains(name.count) && rest.count >= 100 && rest.starts(with: "APA91".utf8)
            && name.allSatisfy(isURLSafe) && rest.allSatisfy(isURLSafe)
    }

    /// 22 URL-safe characters whose first four bits are 0111.
    static func isFID(_ text: some Collection<UInt8>) -> Bool {
        text.count == 22 && text.allSatisfy(isURLSafe) && text.first.map("cdef".utf8.contains) == true
    }

    static func isURLSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// A boolean expression over topics: `'a' in topics && ('b' in topics || !('c' in topics))`.
struct TopicCondition {
    /// Maximum number of topics in one condition.
    static let maximumTopics = 5

    private var rest: Substring
    private var topics = 0

    /// Whether the text is such an expression.
    static func isValid(_ text: String) -> Bool {
        var parser = TopicCondition(rest: text[...])
        return parser.expression(depth: 0) && parser.rest.isEmpty && (1...maximumTopics).contains(parser.topics)
    }

    private mutating func take(_ token: String) -> Bool {
        rest = rest.drop { $0 == " " }
        guard rest.hasPrefix(token) else { return false }
        rest = rest.dropFirst(token.count).drop { $0 == " " }
        return true
    }

    private mutating func expression(depth: Int) -> Bool {
        guard depth <= Self.maximumTopics, operand(depth: depth) else { return false }
        while take("&&") || take("||") {
            guard operand(depth: depth) else { return false }
        }
        return true
    }

    private mutating func operand(depth: Int) -> Bool {
        if take("!") { return operand(depth: depth + 1) }
        if take("(") { return expression(depth: depth + 1) && take(")") }
        guard take("'"), let end = rest.firstIndex(of: "'"), MessageTarget.isTopic(String(rest[..<end])) else {
            return false
        }
        rest = rest[rest.index(after: end)...]
        topics += 1
        return take("in") && take("topics")
    }
}
