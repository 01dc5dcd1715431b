import Foundation
import PostgresClient
import Testing

@testable import TestSupport

struct StatementRecordingTests {
    @Test func `statements of a service's role are recorded, but neither those of others nor what its role may not run`() async throws {
        let folder = try TemporaryDirectory()
        chmod(folder.path, 0o777)
        let recording = StatementRecording(folder: folder.path)
        let server = try await PostgresServer.start(extraArguments: recording.serverArguments)
        if StatementRecording.current == nil { try await recording.prepare(server) }
        try await server.psql("CREATE ROLE heliograph_notifier LOGIN")
        try await server.psql("CREATE DATABASE other")
        for database in ["postgres", "other"] {
            try await server.psql("CREATE TABLE seen (a int); CREATE TABLE hidden (a int)", database: database)
            try await server.psql("GRANT SELECT ON seen TO heliograph_notifier", database: database)
        }
        let postgres = TestDatabase(url: server.url(), name: "postgres", server: server)
        try await withClient(of: postgres) { try await $0.execute("SELECT a + 1 FROM seen") }
        try await withClient(of: postgres.connecting(as: "heliograph_notifier")) { client in
            try await client.execute("SELECT a\n FROM seen WHERE a = 7 AND a < \(8)")
            await #expect(throws: PostgresError.self) { try await client.execute("SELECT a FROM hidden WHERE a = 7") }
        }
        let other = TestDatabase(url: server.url(database: "other"), name: "other", server: server)
        try await withClient(of: other.connecting(as: "heliograph_notifier")) { try await $0.execute("SELECT FROM seen") }

        try await recording.record(database: "postgres") { try await server.psql($0) }
        let lines = try String(contentsOfFile: folder.path + "/postgres.tsv", encoding: .utf8).split(separator: "\n")
        let selects = lines.filter { $0.contains("SELECT a") || $0.contains("hidden") }
        #expect(selects == ["heliograph_notifier\tSELECT a FROM seen WHERE a = $2 AND a < $1"])
        try await recording.record(database: "postgres") { try await server.psql($0) }
        let rest = try String(contentsOfFile: folder.path + "/postgres.tsv", encoding: .utf8)
        #expect(!rest.contains("SELECT a"), "what was recorded has made room")
        try await recording.record(database: "other") { try await server.psql($0) }
        #expect(try String(contentsOfFile: folder.path + "/other.tsv", encoding: .utf8).contains("SELECT FROM seen"))
    }
}
