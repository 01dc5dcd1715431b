import RedisClient
import TestSupport
import Testing

@Suite struct ScriptTests {
    @Test func `A script receives its keys and arguments, in the first call and in later ones`() async throws {
        try await withClient { client, key in
            let script = RedisScript("redis.call('SET', KEYS[1], ARGV[1]) return {ARGV[2], #KEYS}")
            for _ in 0..<3 {
                let reply = try await client.eval(script, keys: [key], arguments: [[0, 255] as [UInt8], 7])
                #expect(reply.array?[0].string == "7" && reply.array?[1].integer == 1)
            }
            #expect(try await client.get(key) == [0, 255])
        }
    }

    @Test func `The text of a script is sent again to a server that does not have it`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server) { client, _ in
            let script = RedisScript("return 42")
            #expect(try await client.eval(script).integer == 42)
            try await server.cli("SCRIPT", "FLUSH")
            #expect(try await client.eval(script).integer == 42)
            #expect(try await client.eval(script).integer == 42)
        }
        await server.stop()
    }

    @Test func `The error of a script is thrown with its code`() async throws {
        try await withClient { client, _ in
            let error = await redisError { try await client.eval(RedisScript("return redis.error_reply('CUSTOM reason')")) }
            #expect(error?.code == .server(RedisServerErrorCode(rawValue: "CUSTOM")))
            #expect(await redisError { try await client.eval(RedisScript("this is no Lua")) }?.code == .server(.err))
        }
    }
}
