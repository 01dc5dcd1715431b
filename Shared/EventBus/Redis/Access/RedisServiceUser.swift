internal import WireFormat

/// The user of a service in Redis (ACL, Redis ≥ 7.0): reads and settles its own streams, appends to every stream, and nothing else.
///
/// The streams are those of ``EventCatalog``. It may append to all streams because any relay publishes any message of the outbox.
public struct RedisServiceUser: Sendable {
    /// The beginning of the names of all users; users belong to a whole server.
    public static let defaultNamePrefix = "heliograph-"

    /// The commands of a connection, and of the metric of the server's memory.
    private static let connectionCommands = [
        "ping", "select", "role", "info", "client|setname", "client|id", "client|unblock", "cluster|slots", "asking",
    ]
    /// The commands of the transport and of its scripts, whose commands the server checks one by one.
    private static let streamCommands = [
        "eval", "evalsha", "script|load", "multi", "exec", "watch", "time", "exists", "xadd", "xread", "xreadgroup", "xrange", "xrevrange",
        "xlen", "xack", "xclaim", "xpending", "xtrim", "xdel", "xinfo|stream", "xinfo|groups", "xinfo|consumers", "xgroup|create",
        "xgroup|delconsumer", "hset", "hget", "hmget", "hgetall", "hexists", "hincrby", "hdel", "zadd", "zrem", "zscore", "zcard", "zrange",
        "zrangebyscore", "ssubscribe", "pubsub|shardnumsub",
    ]

    /// All commands of a service, in the form of rules: the server refuses every other one.
    static let commands = connectionCommands + streamCommands

    /// The service, which is also the name of its group.
    public let service: String
    private let keyPrefix: String
    private let namePrefix: String

    /// - Parameters:
    ///   - service: The deployed name.
    ///   - keyPrefix: As of ``RedisEventTransport``; see ``isValid(prefix:)``.
    ///   - namePrefix: The beginning of the user's name.
    public init(service: String, keyPrefix: String, namePrefix: String = Self.defaultNamePrefix) {
        precondition(Self.isValid(prefix: keyPrefix) && Self.isValid(prefix: namePrefix), "a prefix for ACL rules has other characters")
        self.service = service
        self.namePrefix = namePrefix
        self.keyPrefix = keyPrefix
    }

    /// Whether a prefix needs no quoting in a rule: up to 64 letters, digits and any of `:_.-/`.
    public static func isValid(prefix: String) -> Bool {
        prefix.utf8.count <= 64
            && prefix.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ":_.-/".contains($0)) }
    }

    /// The name in Redis, such as `heliograph-notifier`.
    public var name: String { namePrefix + service }

    /// The rules of `ACL SETUSER`, without a password. They begin with `reset`, so that they replace all previous rules.
    public var rules: [String] {
        let own = EventCatalog.streams(readBy: service).flatMap { stream -> [String] in
            let key = RedisEventTransport.key(of: stream, prefix: keyPrefix)
            return ["~\(key)", "~\(key):\(service):*", "&\(key):\(service):*"]
        }
        let published = EventCatalog.streams.map { "%W~" + RedisEventTransport.key(of: $0, prefix: keyPrefix) }
        return ["reset", "on"] + own + Self.commands.map { "+" + $0 }
            + ["(\((published + ["+xadd"]).joined(separator: " ")))"]
    }

    /// The line of an ACL file.
    ///
    /// - Parameter passwordHash: See ``RedisPasswordHash``.
    public func line(passwordHash: RedisPasswordHash) -> String {
        (["user", name] + rules.dropFirst() + [passwordHash.rule]).joined(separator: " ")
    }
}

/// The hash by which Redis knows a password, so that neither a file nor a command has the password.
public struct RedisPasswordHash: Sendable {
    /// The rule `#…`, with 64 hexadecimal digits.
    public let rule: String

    /// - Parameter sha256: The SHA-256 of the password, in lower-case hexadecimal digits.
    public init(sha256: String) {
        precondition(sha256.utf8.count == 64 && sha256.allSatisfy(\.isHexDigit), "a SHA-256 has 64 digits")
        rule = "#" + sha256
    }

    /// The line of an ACL file for the operators' user, who has all permissions. Without this line, an ACL file leaves that user without a
    /// password.
    public var operatorLine: String { "user default on ~* &* +@all \(rule)" }
}
