public import RedisClient

extension RedisConfiguration {
    /// Reads `REDIS_URL`, `REDIS_CA_FILE`, and with Sentinels `REDIS_SENTINEL_USERNAME` and `REDIS_SENTINEL_PASSWORD`.
    ///
    /// - Parameter url: Counts instead of `REDIS_URL`.
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public init(_ settings: Settings, url: String? = nil) throws(ConfigurationError) {
        let name = "REDIS_URL"
        let expectation = "redis://host:6379/0, rediss://…, unix:///path/to.sock or redis+sentinel://host:26379,host:26379/master"
        let text = if let url { url } else { try settings.string(name, expectation) }
        do throws(RedisError) { try self.init(url: text) } catch {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        caFile = try settings.optionalString("REDIS_CA_FILE")
        sentinelUsername = try settings.optionalString("REDIS_SENTINEL_USERNAME")
        sentinelPassword = try settings.optionalString("REDIS_SENTINEL_PASSWORD")
    }
}
