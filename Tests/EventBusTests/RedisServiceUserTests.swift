import Foundation
import HeliographCrypto
import RedisClient
import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// The users of the services on a real server.
struct RedisServiceUserTests {
    private static let password = "correct-horse-battery-staple"

    @Test func `a service does with its own streams all that the bus needs`() async throws {
        try await withServiceUsers { _, services async throws in
            for (service, transport) in services {
                try await transport.client.ping()
                #expect(try await transport.client.send(RedisCommand("INFO", "memory")).string?.contains("used_memory") == true)
                for stream in EventCatalog.streams(readBy: service) {
                    guard EventCatalog.groupsByStream[stream]?.isEmpty == false else {
                        try await use(transport, tailOf: stream)
                        continue
                    }
                    try await use(transport, StreamGroup(stream: stream, name: service))
                }
            }
        }
    }

    private func use(_ transport: RedisEventTransport, tailOf stream: String) async throws {
        let tail = try await transport.openTail(stream: stream)
        await tail.close()
        _ = try await transport.trim(stream, ungroupedAge: .seconds(60))
    }

    /// Calls every function of the transport that a service uses.
    private func use(_ transport: RedisEventTransport, _ group: StreamGroup) async throws {
        try await transport.createGroup(group.name, on: group.stream)
        let consumer = GroupConsumer(group: group, name: "consumer")
        let fields = [StreamField(name: "i", value: Array("message".utf8))]
        let ids = try await transport.append((0..<4).map { _ in OutgoingEntry(stream: group.stream, fields: fields) }).map { try $0.get() }
        let reader = try await transport.openReader(consumer)
        // A stream that several services read has the entries of those before, too.
        #expect(try await reader.read(count: 100, wait: .milliseconds(1), acknowledging: []).entries.map(\.id).suffix(4) == ids)
        #expect(try await reader.read(count: 1, wait: .milliseconds(1), acknowledging: [ids[0]]).gone == [])
        await reader.interrupt()
        #expect(try await transport.keep([ids[1]], by: consumer) == [])
        #expect(try await transport.acknowledge([ids[0], ids[2]], by: consumer) == [])
        #expect(try await transport.retry([DelayedRetry(id: ids[1], failures: 1, delay: .zero)], by: consumer) == [])
        #expect(try await transport.release([ids[3]], by: consumer) == [])
        let lifeline = try await transport.openLifeline(consumer)
        #expect(try await transport.beat(.test, by: consumer).hasLifeline)
        await lifeline.close()
        _ = try await transport.claim(ClaimRequest(minIdle: .zero, count: 10), for: consumer)
        _ = try await transport.begin([ids[3]], by: consumer)
        #expect(try await transport.resumeRetries(of: group, limit: 10).count == 1)
        _ = try await transport.absent([PublishedMessage(id: UUIDv7.generate(), entryID: ids[0])], from: group)
        #expect(try await transport.status(of: group).pending > 0)
        _ = try await transport.trim(group.stream, ungroupedAge: nil)
        _ = try await transport.retireIdle(of: group, idle: .seconds(60))
        _ = try await transport.retire(consumer)
        await reader.close()
    }

    @Test func `an ACL file has a line for the user of operators and for each service, and no password`() async throws {
        let hash = RedisPasswordHash(sha256: Hex.encode(SHA256.hash(Self.password)))
        let folder = try TemporaryDirectory()
        let users = streamReaders.map { RedisServiceUser(service: $0, keyPrefix: "heliograph:") }
        let lines = [hash.operatorLine] + users.map { $0.line(passwordHash: hash) }
        let text = lines.joined(separator: "\n") + "\n"
        #expect(!text.contains(Self.password))
        try text.write(toFile: folder.path + "/users.acl", atomically: true, encoding: .utf8)
        let server = try await RedisServer.start(password: Self.password, extraArguments: ["--aclfile", folder.path + "/users.acl"])
        #expect(try await server.cli("ACL", "USERS").split(separator: "\n").count == lines.count)
        await server.stop()
    }

    @Test func `of the server's dangerous commands, a service runs those that wake its reads or tell about the server`() async throws {
        let server = try await RedisServer.shared()
        let dangerous = try await server.cli("--raw", "ACL", "CAT", "dangerous").split(separator: "\n").map(String.init)
        #expect(dangerous.count > 20 && dangerous.contains("flushall"))
        #expect(dangerous.filter { RedisServiceUser.commands.contains($0) }.sorted() == ["client|unblock", "info", "role"])
    }

    @Test(arguments: [("heliograph:", true), ("a b", false), ("a\"", false), ("a)", false), ("a*", false), ("", true)])
    func `prefixes that would change a rule are refused`(prefix: String, isValid: Bool) {
        #expect(RedisServiceUser.isValid(prefix: prefix) == isValid)
    }
}
