import BuildVersion
import EventBus
import Foundation
import Logging
import ServiceDefaults
import ServiceLifecycle
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

/// A service without components of its own, under the name of a deployed one.
private enum BareNotifier: HeliographService {
    static let name = "notifier"
    static let summary = "Only what all services have."

    static func build(_ context: ServiceContext) async throws -> [any Service] { [] }
}

struct StatusCommandTests {
    @Test func `make status says in one line that a stack does not run`() async throws {
        let folder = try TemporaryDirectory()
        try "IDENTITY_API_URL=http://127.0.0.1:1\n".write(toFile: "\(folder.path)/stack.env", atomically: true, encoding: .utf8)
        let failure = await #expect(throws: CommandLineTool.Failure.self) {
            try await CommandLineTool.run(
                ["/bin/bash", PackageRoot.file("deploy/local/stack.sh"), "status"], environment: ["HELIOGRAPH_RUN": folder.path])
        }
        #expect(failure?.exitCode == 1 && failure?.output.hasPrefix("down: make up (") == true)
    }

    /// Has a process of each service send a heartbeat for all of its streams, as those do that wait for messages.
    private func withHeartbeats(_ bus: TestBus, _ body: () async throws -> Void) async throws {
        let limits = HeartbeatLimits(silence: .seconds(60), lifelineGrace: .seconds(60), stall: .seconds(60), holdOff: .seconds(60))
        for group in KnownGroups.all.flatMap(\.groups) {
            try await bus.transport.createGroup(group.name, on: group.stream)
            let consumer = GroupConsumer(group: group, name: "\(group.name):host:7:\(group.stream)")
            _ = try await bus.transport.beat(limits, by: consumer)
        }
        try await body()
    }

    private func status(_ bus: TestBus, _ arguments: String...) async -> CommandResult {
        await heliographctl(["status"] + arguments + bus.arguments)
    }

    @Test func `an installation whose services all send heartbeats is well`() async throws {
        try await TestBus.with { bus in
            try await withHeartbeats(bus) {
                let result = await status(bus)
                #expect(result.exitCode == 0 && result.results.last == "All is well.", "\(result.results)")
                #expect(result.results.count { $0.contains("running") && $0.contains("1        0") } == 5, "\(result.results)")
                #expect(result.results.contains("Postgres: answers; the schema is that of this version."))
            }
        }
    }

    @Test func `a service that does not run is wrong`() async throws {
        try await TestBus.with { bus in
            let result = await status(bus)
            #expect(result.exitCode == 1)
            #expect(result.results.contains("notifier does not run: start it, or see in its log why it ended."))
        }
    }

    @Test func `dead letters are wrong, and the command that shows them is named`() async throws {
        try await TestBus.with { bus in
            try await withHeartbeats(bus) {
                try await bus.deadLetter([ekyc()])
                let result = await status(bus)
                #expect(result.exitCode == 1)
                #expect(result.results.last?.contains("`heliographctl dlq list ekyc.requested`") == true)
            }
        }
    }

    @Test func `an instance says its readiness and its version`() async throws {
        try await TestBus.with { bus in
            let port = try FreePort.find()
            let settings = Settings(environment: bus.environment.merging(["ADMIN_PORT": "\(port)"]) { $1 })
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let context = try ServiceContext(name: BareNotifier.name, settings: settings, logger: logger)
            let group = try await ServiceRunner.group(for: BareNotifier.self, context: context, signals: [])
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                let url = "http://127.0.0.1:\(port)/metrics"
                let line = try await eventually("the service is ready") {
                    await status(bus, "--metrics-url", url).results.first {
                        $0.hasPrefix("notifier  ") && $0.contains(" ready") && !$0.contains("not ready")
                    }
                }
                #expect(line.contains(HeliographVersion.number))
                context.health.register("disk") { throw CancellationError() }
                let unready = await status(bus, "--metrics-url", url)
                #expect(unready.results.contains { $0.hasPrefix("notifier is not ready: disk: ") })
                await group.triggerGracefulShutdown()
            }
        }
    }

    private func json(_ result: CommandResult) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(result.results.joined(separator: "\n").utf8)) as? [String: Any])
    }

    @Test func `without Redis the dead letters in Postgres are counted all the same`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter([ekyc()])
            let result = await heliographctl(
                ["status", "--redis-url", "unix:///nowhere.sock", "--wait", "0", "--json"] + bus.databaseArguments)
            #expect(result.exitCode == 1)
            let json = try json(result)
            let dead = (json["services"] as? [[String: Any]])?.compactMap { $0["dead"] as? Int } ?? []
            #expect(dead.sorted() == [0, 0, 0, 0, 1])
            let texts = (json["findings"] as? [[String: Any]])?.compactMap { $0["text"] as? String } ?? []
            #expect(texts.contains { $0.contains("`heliographctl dlq list ekyc.requested`") })
            #expect(!texts.contains { $0.contains("No consumer reads") })
        }
    }

    @Test func `what cannot be counted without the schema is not called zero`() async throws {
        try await TestBus.with { bus in
            try await bus.database.psql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            let json = try json(await status(bus, "--json"))
            let services = try #require(json["services"] as? [[String: Any]])
            #expect(services.count == 5 && services.allSatisfy { $0["dead"] as? Int == nil })
            #expect((json["outbox"] as? [String: Any])?["waiting"] as? Int == nil)
        }
    }

    @Test func `an instance and servers that do not answer are wrong, and the rest is said all the same`() async throws {
        let result = await heliographctl(
            "status", "--metrics-url", "http://127.0.0.1:1/metrics", "--redis-url", "unix:///nowhere.sock", "--database-url",
            "host=/nowhere", "--wait", "0", "--json")
        #expect(result.exitCode == 1)
        let json = try json(result)
        let texts = (json["findings"] as? [[String: Any]])?.compactMap { $0["text"] as? String } ?? []
        #expect(texts.count == 3 && json["is_well"] as? Bool == false)
        #expect(texts.last?.hasPrefix("http://127.0.0.1:1/metrics: no answer: ") == true)
    }
}
