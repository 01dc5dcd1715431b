import RedisClient
import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// What the user of each service can do with every key of the bus, and with every command of a real server: all of it is tried.
struct RedisAccessTests {
    /// Every way to read a stream and its groups, and to change them other than by an append; the last two go through scripts.
    private func uses(of key: String, group: String) -> [RedisCommand] {
        [
            RedisCommand("XRANGE", key, "-", "+"), RedisCommand("XREVRANGE", key, "+", "-"), RedisCommand("XLEN", key),
            RedisCommand("XREAD", "COUNT", 1, "STREAMS", key, "0"), RedisCommand("XINFO", "STREAM", key),
            RedisCommand("XREADGROUP", "GROUP", group, "thief", "COUNT", 1, "STREAMS", key, ">"), RedisCommand("XINFO", "GROUPS", key),
            RedisCommand("XINFO", "CONSUMERS", key, group), RedisCommand("XPENDING", key, group), RedisCommand("EXISTS", key),
            RedisCommand("XACK", key, group, "1-1"), RedisCommand("XCLAIM", key, group, "thief", 0, "1-1"),
            RedisCommand("XDEL", key, "1-1"),
            RedisCommand("XTRIM", key, "MINID", "0"), RedisCommand("XGROUP", "CREATE", key, "thieves", "0"),
            RedisCommand("XGROUP", "DELCONSUMER", key, group, "thief"),
            RedisCommand("EVAL", "return redis.call('XRANGE', KEYS[1], '-', '+')", 1, key),
            RedisCommand("EVAL", "return redis.call('XDEL', '\(key)', '1-1')", 0),
        ]
    }

    /// Ways to read and to change the retries, the dead letters and the other keys of a group.
    private func uses(ofGroupKey key: String) -> [RedisCommand] {
        [
            RedisCommand("EXISTS", key), RedisCommand("ZRANGE", key, 0, -1), RedisCommand("ZADD", key, 1, "m"),
            RedisCommand("ZREM", key, "m"), RedisCommand("HGET", key, "f"), RedisCommand("HSET", key, "f", "v"),
            RedisCommand("HDEL", key, "f"), RedisCommand("XRANGE", key, "-", "+"), RedisCommand("XADD", key, "*", "k", "v"),
            RedisCommand("XDEL", key, "1-1"), RedisCommand("XTRIM", key, "MINID", "0"),
            RedisCommand("EVAL", "return redis.call('XRANGE', KEYS[1], '-', '+')", 1, key),
        ]
    }

    @Test func `a service reads and changes its own streams, and no others`() async throws {
        try await withServiceUsers { operators, services async throws in
            for stream in EventCatalog.streams {
                let key = operators.key(of: stream)
                let groups = EventCatalog.groupsByStream[stream] ?? []
                for group in groups { try await operators.createGroup(group, on: stream) }
                _ = try await operators.client.send(RedisCommand("XADD", key, "*", "k", "v"))
                for (service, transport) in services {
                    let isOwn = EventCatalog.streams(readBy: service).contains(stream)
                    for command in uses(of: key, group: groups.first ?? "none") {
                        #expect(try await transport.isRefused(command) == !isOwn, "\(service) \(command.name) \(stream)")
                    }
                }
                #expect(try await operators.client.send(RedisCommand("XLEN", key)).integer == 1)
            }
        }
    }

    @Test func `the retries of a group are out of reach of other services`() async throws {
        try await withServiceUsers { operators, services async throws in
            for (stream, groups) in EventCatalog.groupsByStream {
                for group in groups.map({ StreamGroup(stream: stream, name: $0) }) {
                    let keys = operators.retryKeys(of: group) + [operators.lossKey(of: group)]
                    for key in keys + operators.pulseKeys(of: group) {
                        for (service, transport) in services {
                            for command in uses(ofGroupKey: key) {
                                let isRefused = try await transport.isRefused(command)
                                #expect(isRefused == (group.name != service), "\(service) \(command.name) \(key)")
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func `a service subscribes to the channels of its own groups alone`() async throws {
        try await withServiceUsers { operators, services async throws in
            for (stream, groups) in EventCatalog.groupsByStream {
                for group in groups.map({ StreamGroup(stream: stream, name: $0) }) {
                    let subscription = RedisCommand("SSUBSCRIBE", operators.lifelineStem(of: group) + "consumer")
                    for (service, transport) in services {
                        // A connection of its own: the shared one could send nothing else afterwards.
                        let connection = try await transport.client.dedicatedConnection()
                        let isRefused = try await connection.isRefused(subscription)
                        #expect(isRefused == (group.name != service), "\(service) \(stream) \(group.name)")
                        await connection.close()
                    }
                }
            }
        }
    }

    @Test func `a service appends to every stream, and to nothing else`() async throws {
        try await withServiceUsers { operators, services async throws in
            for (service, transport) in services {
                for stream in EventCatalog.streams {
                    let append = RedisCommand("XADD", operators.key(of: stream), "*", "k", "v")
                    #expect(try await !transport.isRefused(append), "\(service) \(stream)")
                }
                for key in ["other", operators.key(of: "other"), operators.keyPrefix + "other"] {
                    let append = RedisCommand("XADD", key, "*", "k", "v")
                    #expect(try await transport.isRefused(append), "\(service) \(key)")
                }
            }
        }
    }

    @Test func `no service may flush, configure, list or administer the server`() async throws {
        try await withServiceUsers { operators, services async throws in
            for (service, transport) in services {
                for own in EventCatalog.streams(readBy: service).map(operators.key(of:)) {
                    for command in [
                        RedisCommand("FLUSHALL"), RedisCommand("FLUSHDB"), RedisCommand("CONFIG", "GET", "*"), RedisCommand("KEYS", "*"),
                        RedisCommand("SCAN", 0), RedisCommand("DEL", own), RedisCommand("UNLINK", own), RedisCommand("RENAME", own, own),
                        RedisCommand("ACL", "LIST"), RedisCommand("DEBUG", "JMAP"), RedisCommand("SHUTDOWN"), RedisCommand("SAVE"),
                        RedisCommand("MONITOR"), RedisCommand("REPLICAOF", "NO", "ONE"), RedisCommand("CLIENT", "LIST"),
                        RedisCommand("SCRIPT", "FLUSH"), RedisCommand("PUBLISH", "channel", "text"),
                        RedisCommand("XGROUP", "DESTROY", own, service), RedisCommand("EVAL", "return redis.call('FLUSHALL')", 0),
                        RedisCommand("EVAL", "return redis.call('DEL', KEYS[1])", 1, own),
                    ] {
                        #expect(try await transport.isRefused(command), "\(service) \(command.name)")
                    }
                }
            }
        }
    }

    @Test func `of all commands that the server has, a service runs those of the transport alone`() async throws {
        try await withServiceUsers { operators, services async throws in
            let refused = try await serverCommands(operators.client).filter { !RedisServiceUser.commands.contains($0.name) }
            #expect(refused.count > 250)
            for (service, transport) in services {
                for command in refused {
                    #expect(try await transport.isRefused(command.call), "\(service) \(command.name)")
                }
            }
        }
    }

    @Test func `the password of a service is that of no other user`() async throws {
        try await withServiceUsers { operators, services async throws in
            for (service, transport) in services {
                for other in streamReaders where other != service {
                    let name = RedisServiceUser(service: other, keyPrefix: operators.keyPrefix).name
                    let error = await #expect(throws: RedisError.self) {
                        _ = try await transport.client.send(RedisCommand("AUTH", name, redisPassword(of: service)))
                    }
                    #expect(error?.code == .server(.wrongPassword), "\(service) as \(other)")
                }
            }
        }
    }

    /// Returns the commands and subcommands of the server, each with as many arguments as it needs at least: the rules of users are
    /// checked after the number of arguments, and before anything else.
    private func serverCommands(_ client: RedisClient) async throws -> [(name: String, call: RedisCommand)] {
        let names = try await client.send(RedisCommand("COMMAND", "LIST")).array?.compactMap(\.string) ?? []
        let descriptions = try await client.send(RedisCommand("COMMAND", arguments: ["INFO"] + names)).array ?? []
        return zip(names, descriptions).compactMap { name, description in
            guard let fields = description.array, fields.count > 2, let arity = fields[1].integer else { return nil }
            // Logging in needs no rule; a command with subcommands has no call of its own.
            let needsNoRule = fields[2].array?.contains { $0.string == "no_auth" } == true
            guard !needsNoRule, !names.contains(where: { $0.hasPrefix(name + "|") }) else { return nil }
            let words = name.split(separator: "|").map(String.init)
            let arguments = words.dropFirst() + Array(repeating: "x", count: max(abs(arity) - words.count, 0))
            return (name, RedisCommand(words[0], arguments: Array(arguments)))
        }
    }
}

extension RedisEventTransport {
    fileprivate func isRefused(_ command: RedisCommand) async throws -> Bool { try await client.isRefused(command) }
}

extension RedisCommandSender {
    /// Returns whether the server refuses a command because of the rules of the user. Its other errors come after that check.
    fileprivate func isRefused(_ command: RedisCommand) async throws -> Bool {
        do {
            _ = try await send(command)
            return false
        } catch {
            guard case .server(let code) = error.code else { throw error }
            // Within a script, and of EXEC, the error has another code; within a script, Redis and Valkey have a text each.
            let texts = ["NOPERM", "user executing the script can't", "ACL failure in script"]
            return code == .noPermission || texts.contains { error.message.contains($0) }
        }
    }
}
