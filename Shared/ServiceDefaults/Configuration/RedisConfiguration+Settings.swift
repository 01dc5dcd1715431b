public import RedisClient

extension RedisConfiguration {
    /// Reads `REDIS_URL`, or without it `REDIS_HOST`, `REDIS_PORT` and `REDIS_PASSWORD`; `REDIS_CA_FILE`, and with Sentinels
    /// `REDIS_SENTINEL_USERNAME` and `REDIS_SENTINEL_PASSWORD`.
    ///
    /// - Parameter url: Replaces `REDIS_URL` and `REDIS_HOST`.
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong, or given in both ways.
    public init(_ settings: Settings, url: String? = nil) throws(ConfigurationError) {
        let name = "REDIS_URL"
        let expectation = "redis://host:6379/0, rediss://…, unix:///path/to.sock or redis+sentinel://host:26379,host:26379/master"
        if url == nil, let parts = try Self.fromParts(settings) {
            self = parts
        } else {
            let text = if let url { url } else { try settings.string(name, expectation) }
            do throws(RedisError) { try self.init(url: text) } catch {
                throw ConfigurationError(name, "is not valid", expectation: expectation)
            }
        }
        caFile = try settings.optionalString("REDIS_CA_FILE")
        sentinelUsername = try settings.optionalString("REDIS_SENTINEL_USERNAME")
        sentinelPassword = try settings.optionalString("REDIS_SENTINEL_PASSWORD")
    }

    /// The server that `REDIS_HOST` names; nil without it.
    private static func fromParts(_ settings: Settings) throws(ConfigurationError) -> RedisConfiguration? {
        let password = try settings.optionalString("REDIS_PASSWORD")
        guard let host = try settings.optionalString("REDIS_HOST", "a host") else {
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
        let port = try settings.int("REDIS_PORT", default: 6379, in: 1...65_535)
        var configuration = RedisConfiguration(endpoint: .tcp(host: host, port: port))
        configuration.password = password
        return configuration
    }
}
