import FoundationEssentials

extension RedisConfiguration {
    /// Reads `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS, `unix://[user:password@]/path[?db=n]`,
    /// `redis+sentinel://[user:password@]host[:port][,host[:port]…]/master[/database]`, `rediss+sentinel://…` for TLS, or
    /// `redis+cluster://[user:password@]host[:port][,host[:port]…]`, `rediss+cluster://…` for TLS.
    ///
    /// User and password are percent-decoded; a password without a user is written `redis://:password@host`. The default port is
    /// 6379, for a Sentinel 26379. User and password are the master's, not the Sentinels'.
    ///
    /// - Throws: ``RedisError/Code/invalidConfiguration`` with the reason, without repeating the URL.
    public init(url: String) throws(RedisError) {
        if let several = try Self.configurationOfSeveralHosts(url) {
            self = several
            return
        }
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            throw Self.invalid("is not a URL")
        }
        switch scheme {
        case "redis", "rediss":
            guard let host = parts.host, !host.isEmpty else { throw Self.invalid("has no host") }
            let port = parts.port ?? 6379
            guard (1...65_535).contains(port) else { throw Self.invalid("has a port that is not between 1 and 65535") }
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
            throw Self.invalid("must begin with redis://, rediss://, unix://, or redis or rediss followed by +sentinel:// or +cluster://")
        }
        try logIn(as: parts)
    }

    private mutating func logIn(as parts: URLComponents) throws(RedisError) {
        if let user = parts.user, !user.isEmpty { username = user }
        if let secret = parts.password, !secret.isEmpty { password = secret }
        if username != nil, password == nil { throw Self.invalid("names a user without a password") }
    }

    /// Reads a URL of Sentinels or of a cluster; nil for another scheme. URL parsers do not accept it, because it names several hosts.
    private static func configurationOfSeveralHosts(_ url: String) throws(RedisError) -> RedisConfiguration? {
        let schemes = [
            "redis+sentinel://": false, "rediss+sentinel://": true, "redis+cluster://": false, "rediss+cluster://": true,
        ]
        guard let (scheme, tls) = schemes.first(where: { url.lowercased().hasPrefix($0.key) }) else { return nil }
        let rest = url.dropFirst(scheme.count)
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<end]
        let hosts = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let addresses = hosts.split(separator: ",", omittingEmptySubsequences: false)
        let path = rest[end...].split(separator: "/", omittingEmptySubsequences: true)
        var configuration =
            scheme.contains("sentinel")
            ? try sentinelConfiguration(addresses, path: path) : try clusterConfiguration(addresses, path: path)
        configuration.tls = tls
        guard let parts = URLComponents(string: "redis://\(authority.dropLast(hosts.count))host") else {
            throw invalid("has a user or a password that is not percent-encoded")
        }
        try configuration.logIn(as: parts)
        return configuration
    }

    private static func sentinelConfiguration(_ texts: [Substring], path: [Substring]) throws(RedisError) -> RedisConfiguration {
        let addresses = try texts.map { text throws(RedisError) in try address(text, of: "a Sentinel", defaultPort: 26_379) }
        guard (1...2).contains(path.count), let name = URLComponents(string: "redis://host/\(path[0])")?.path.dropFirst() else {
            throw invalid("of Sentinels needs the name of the master: redis+sentinel://host:26379,host:26379/mymaster")
        }
        var configuration = RedisConfiguration(endpoint: .sentinel(RedisSentinels(addresses: addresses, masterName: String(name))))
        if path.count == 2 { configuration.database = try database(String(path[1])) }
        return configuration
    }

    private static func clusterConfiguration(_ texts: [Substring], path: [Substring]) throws(RedisError) -> RedisConfiguration {
        guard path.isEmpty else { throw invalid("of a cluster has no database and no path") }
        let addresses = try texts.map { text throws(RedisError) in try address(text, of: "a server of a cluster", defaultPort: 6379) }
        return RedisConfiguration(endpoint: .cluster(addresses))
    }

    private static func address(
        _ text: Substring, of server: String, defaultPort: Int
    ) throws(RedisError) -> RedisAddress {
        guard let parts = URLComponents(string: "redis://\(text)"), let host = parts.host, !host.isEmpty, parts.path.isEmpty else {
            throw invalid("names \(server) that is not host:port")
        }
        let port = parts.port ?? defaultPort
        guard (1...65_535).contains(port) else { throw invalid("has a port that is not between 1 and 65535") }
        return RedisAddress(host: withoutBrackets(host), port: port)
    }

    private static func database(_ text: String) throws(RedisError) -> Int {
        guard let number = Int(text), number >= 0 else { throw invalid("has a database that is not a number of 0 or more") }
        return number
    }

    /// Removes the brackets around an IPv6 address: URLs have them, resolvers do not accept them.
    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func invalid(_ reason: String) -> RedisError {
        RedisError(.invalidConfiguration, "the Redis URL \(reason)")
    }
}
