import RedisClient
import Testing

@Suite struct RedisConfigurationTests {
    @Test func `A plain URL gives host, port and database`() throws {
        let configuration = try RedisConfiguration(url: "redis://redis.internal:6380/3")
        #expect(configuration.endpoint == .tcp(host: "redis.internal", port: 6380))
        #expect(configuration.database == 3)
        #expect(!configuration.tls && configuration.username == nil && configuration.password == nil)
    }

    @Test func `The default port is 6379`() throws {
        #expect(try RedisConfiguration(url: "redis://h").endpoint == .tcp(host: "h", port: 6379))
        #expect(try RedisConfiguration(url: "redis://[::1]:7000").endpoint == .tcp(host: "::1", port: 7000))
    }

    @Test func `User and password are percent-decoded, and the user may be missing`() throws {
        let configuration = try RedisConfiguration(url: "rediss://bus:p%40ss%2Fword@h")
        #expect(configuration.tls && configuration.username == "bus" && configuration.password == "p@ss/word")
        let anonymous = try RedisConfiguration(url: "redis://:secret@h")
        #expect(anonymous.username == nil && anonymous.password == "secret")
    }

    @Test func `The path of a Unix socket and its database are read`() throws {
        let configuration = try RedisConfiguration(url: "unix:///run/redis/redis.sock?db=2")
        #expect(configuration.endpoint == .unixSocket(path: "/run/redis/redis.sock"))
        #expect(configuration.database == 2)
    }

    @Test func `Sentinels are listed before the name of their master`() throws {
        let configuration = try RedisConfiguration(url: "rediss+sentinel://bus:p%40ss@a:26380,b,[::1]:7/my%2Dmaster/3")
        let addresses = [("a", 26_380), ("b", 26_379), ("::1", 7)].map { RedisAddress(host: $0.0, port: $0.1) }
        #expect(configuration.endpoint == .sentinel(RedisSentinels(addresses: addresses, masterName: "my-master")))
        #expect(configuration.tls && configuration.database == 3)
        #expect(configuration.username == "bus" && configuration.password == "p@ss")
        #expect("\(configuration)" == "rediss+sentinel://a:26380,b:26379,[::1]:7/my-master/3")
    }

    @Test func `The servers of a cluster to ask first are listed`() throws {
        let configuration = try RedisConfiguration(url: "rediss+cluster://bus:p%40ss@a:7000,b,[::1]:7/")
        let addresses = [("a", 7000), ("b", 6379), ("::1", 7)].map { RedisAddress(host: $0.0, port: $0.1) }
        #expect(configuration.endpoint == .cluster(addresses))
        #expect(configuration.tls && configuration.database == 0)
        #expect(configuration.username == "bus" && configuration.password == "p@ss")
        #expect("\(configuration)" == "rediss+cluster://a:7000,b:6379,[::1]:7")
    }

    @Test(arguments: [
        "redis+cluster://", "redis+cluster://h/0", "redis+cluster://h,", "redis+cluster://h:0", "redis+cluster://user@h",
        "redis+sentinel://", "redis+sentinel://h", "redis+sentinel://h/", "redis+sentinel://h,/m", "redis+sentinel://h:0/m",
        "redis+sentinel://h:port/m", "redis+sentinel:///m", "redis+sentinel://h/m/x", "redis+sentinel://h/m/1/2",
        "redis+sentinel://user@h/m",
        "", "localhost:6379", "http://h", "redis://", "redis://h:0", "redis://h:70000", "redis://h/x", "redis://h/-1",
        "unix://", "unix://relative/path", "redis://user@h", "redis://h:port",
    ])
    func `An invalid URL is a configuration error`(url: String) {
        let error = #expect(throws: RedisError.self) { try RedisConfiguration(url: url) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func `Neither the description nor an error shows the password`() throws {
        let configuration = try RedisConfiguration(url: "redis://u:secret@h/1")
        #expect(!"\(configuration)".contains("secret"))
        let error = #expect(throws: RedisError.self) { try RedisConfiguration(url: "redis://u:secret@h:0") }
        #expect(error.map { "\($0)".contains("secret") } == false)
    }
}
