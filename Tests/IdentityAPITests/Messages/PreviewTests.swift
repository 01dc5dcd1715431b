import Accounts
import EventBus
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct PreviewTests {
    @Test(.api) func `no table and no stream contains texts or names in plain text`() async throws {
        let chat = try await Chat.make(api)
        let secrets = ["Canary-text-1f6b", "Canary-name-77ab"]
        #expect(try await chat.api.json("PUT", "/v1/users/me", #"{"display_name":"\#(secrets[1])"}"#, by: chat.ada).status == 200)
        try await chat.say(secrets[0], "m-1", by: chat.ada)
        let tables = try await chat.api.dumpTables()
        #expect(tables.contains("m-1"), "the dump has what is there")
        let streams = try await chat.api.publishedStreams()
        #expect(streams.contains("chat_message"))
        for secret in secrets {
            let bytes = Array(secret.utf8)
            let spellings = [secret, bytes.map { String(format: "%02x", $0) }.joined(), Data(bytes).base64EncodedString()]
            for spelling in spellings { #expect(!tables.contains(spelling) && !streams.contains(spelling)) }
        }
    }

    @Test(arguments: [
        (String(repeating: "a", count: 100), String(repeating: "a", count: 100)),
        (String(repeating: "ä", count: 200), String(repeating: "ä", count: 101)),
        ("e" + String(repeating: "\u{301}", count: 4_000), nil as String?),
    ])
    func `a preview has at most one character more than a push shows`(text: String, preview: String?) throws {
        let body = try JSONBody(parsing: Array(#"{"message_id":"m","text":"\#(text)"}"#.utf8))
        #expect(try ChatMessage(MessageBody.fields.read(body), in: .c1).preview == preview)
    }

    @Test(.api) func `a preview opens in its own push only`() async throws {
        let chat = try await Chat.make(api)
        try await chat.say("hello", "m-1", by: chat.ada)
        let push = try #require(try await chat.pushes().first)
        #expect(throws: (any Error).self) {
            try push.chatMessage().text?.opened(of: UUID(), with: chat.api.context.sealer(.tokens))
        }
    }
}

extension IdentityFixture {
    /// Returns every row of every table, as text.
    func dumpTables() async throws -> String {
        let tables = try await postgres.query("SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'")
        var dump = ""
        for table in tables {
            let name = try table.decode("name", as: String.self)
            for row in try await postgres.query("SELECT t::text AS line FROM \(unescaped: name) t") {
                dump += try row.decode("line", as: String.self) + "\n"
            }
        }
        return dump
    }

    /// Publishes the outbox, and returns all entries of the streams as text.
    func publishedStreams() async throws -> String {
        let relay = OutboxRelay(transport: context.transport, postgres: context.postgres, logger: context.logger)
        let running = Task { try await relay.run() }
        defer { running.cancel() }
        let redis = try await RedisServer.shared()
        let prefix = try context.settings.string("REDIS_KEY_PREFIX", "a prefix")
        var dump = ""
        try await eventually("the outbox is published") {
            let keys = try await redis.cli("--raw", "KEYS", prefix + "*").split(separator: "\n").map(String.init)
            dump = ""
            for key in keys where try await redis.cli("--raw", "TYPE", key).hasPrefix("stream") {
                dump += try await redis.cli("--raw", "XRANGE", key, "-", "+")
            }
            return dump.contains("chat_message")
        }
        return dump
    }
}
