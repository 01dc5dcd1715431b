public import RedisClient

extension RedisConfiguration {
    /// Reads `REDIS_URL`, or without it `REDIS_HOST`, and the settings beside them.
    ///
    /// - Parameter url: Replaces `REDIS_URL` and `REDIS_HOST`.
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong, or given in both ways.
    public init(_ settings: Settings, url: String? = nil) throws(ConfigurationError) {
        let name = "REDIS_URL"
        let expectation =
            "redis://host:6379/0, rediss://…, unix:///path/to.sock, redis+sentinel://host:26379,host:26379/master or "
            + "redis+cluster://host:6379,host:6379"
        if url == nil, let parts = try Self.fromParts(settings) {
            self = parts
        } else {
            let about = "Redis ≥ 7.0 (AOF on, no eviction); `rediss`, `rediss+sentinel` and `rediss+cluster` are TLS"
            let text = if let url { url } else { try settings.string(name, expectation, about: about) }
            do throws(RedisError) { try self.init(url: text) } catch {
                throw ConfigurationError(name, "is not valid", expectation: expectation)
            }
        }
        caFile = try settings.optionalString(
            "REDIS_CA_FILE", "the path of a PEM file of certificate authorities", otherwise: "the system's",
            about: "the authorities that sign the certificate of Redis")
        sentinelUsername = try settings.optionalString("REDIS_SENTINEL_USERNAME", about: "the name that the Sentinels ask for")
        sentinelPassword = try settings.optionalString("REDIS_SENTINEL_PASSWORD", about: "the password that the Sentinels ask for")
    }

    /// The server that `REDIS_HOST` names; nil without it.
    private static func fromParts(_ settings: Settings) throws(ConfigurationError) -> RedisConfiguration? {
        let password = try settings.optionalString("REDIS_PASSWORD", about: "the password of `REDIS_HOST`")
        guard
            let host = try settings.optionalString(
                "REDIS_HOST", "a host", about: "in place of `REDIS_URL`, never beside it: a server that is reached without TLS")
        else {
            // REDIS_PORT alone is ignored: Kubernetes sets it in every pod beside a service that is called redis.
            guard password == nil else {
                throw ConfigurationError(
                    "REDIS_PASSWORD", "is given without REDIS_HOST", expectation: "within REDIS_URL, or beside REDIS_HOST")
            }
            return nil
        }
        guard try settings.optionalString("REDIS_URL") == nil else {
            throw ConfigurationError("REDIS_HOST", "is given beside REDIS_URL", expectation: "left out, or REDIS_URL is")
        }
        let port = try settings.int("REDIS_PORT", default: 6379, in: 1...65_535, about: "the port of `REDIS_HOST`")
        var configuration = RedisConfiguration(endpoint: .tcp(host: host, port: port))
        configuration.password = password
        return configuration
    }
}
