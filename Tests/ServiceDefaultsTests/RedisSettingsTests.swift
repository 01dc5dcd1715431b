import RedisClient
import ServiceDefaults
import Testing

@Suite struct RedisSettingsTests {
    @Test func `host, port and password replace a URL`() throws {
        let parts = try RedisConfiguration(
            Settings(environment: ["REDIS_HOST": "redis.internal", "REDIS_PORT": "6380", "REDIS_PASSWORD": "p@ss/word"]))
        #expect(parts.endpoint == .tcp(host: "redis.internal", port: 6380) && parts.password == "p@ss/word")
        let host = try RedisConfiguration(Settings(environment: ["REDIS_HOST": "redis.internal"]))
        #expect(host.endpoint == .tcp(host: "redis.internal", port: 6379) && host.password == nil)
    }

    @Test func `a URL is used beside the REDIS_PORT that Kubernetes sets for a service called redis`() throws {
        let settings = Settings(environment: ["REDIS_URL": "redis://other:7000", "REDIS_PORT": "tcp://10.0.0.7:6379"])
        #expect(try RedisConfiguration(settings).endpoint == .tcp(host: "other", port: 7000))
    }

    @Test(arguments: [
        (["REDIS_URL": "redis://a", "REDIS_HOST": "b"], "REDIS_HOST is given beside REDIS_URL"),
        (["REDIS_URL": "redis://a", "REDIS_PASSWORD": "hunter2"], "REDIS_PASSWORD is given without REDIS_HOST"),
        (["REDIS_HOST": "b", "REDIS_PORT": "many"], "REDIS_PORT is not valid"), ([:], "REDIS_URL is missing"),
    ])
    func `two addresses, or an incomplete one, stop the start with one line`(environment: [String: String], line: String) {
        let error = #expect(throws: ConfigurationError.self) { try RedisConfiguration(Settings(environment: environment)) }
        #expect(error?.description.hasPrefix(line) == true && error?.description.contains("hunter2") == false)
    }
}
