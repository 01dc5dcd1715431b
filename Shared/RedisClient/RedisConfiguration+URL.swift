import FoundationEssentials

extension RedisConfiguration {
    /// Reads `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS, or `unix://[user:password@]/path[?db=n]`.
    ///
    /// User and password are percent-decoded; a password without a user is written `redis://:password@host`. The port is
    /// 6379 when none is given.
    ///
    /// - Throws: ``RedisError/Code/invalidConfiguration`` that says what is wrong, without repeating the URL.
    public init(url: String) throws(RedisError) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            throw Self.invalid("is no URL")
        }
        switch scheme {
        case "redis", "rediss":
            guard let host = parts.host, !host.isEmpty else { throw Self.invalid("has no host") }
            let port = parts.port ?? 6379
            guard (1...65_535).contains(port) else { throw Self.invalid("has a port that is none") }
            self.init(endpoint: .tcp(host: Self.withoutBrackets(host), port: port))
            tls = scheme == "rediss"
            let path = parts.path.drop { $0 == "/" }
            if !path.isEmpty { database = try Self.database(String(path)) }
        case "unix":
            guard parts.host ?? "" == "", parts.path.count > 1 else {
                throw Self.invalid("of a Unix socket needs an absolute path: unix:///run/redis.sock")
            }
            self.init(endpoint: .unixSocket(path: parts.path))
            if let text = parts.queryItems?.first(where: { $0.name == "db" })?.value { database = try Self.database(text) }
        default:
            throw Self.invalid("must begin with redis://, rediss:// or unix://")
        }
        if let user = parts.user, !user.isEmpty { username = user }
        if let secret = parts.password, !secret.isEmpty { password = secret }
        if username != nil, password == nil { throw Self.invalid("names a user without a password") }
    }

    private static func database(_ text: String) throws(RedisError) -> Int {
        guard let number = Int(text), number >= 0 else { throw invalid("has a database that is no number") }
        return number
    }

    /// URLs write IPv6 addresses in brackets; resolvers want them without.
    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func invalid(_ reason: String) -> RedisError {
        RedisError(.invalidConfiguration, "the Redis URL \(reason)")
    }
}
