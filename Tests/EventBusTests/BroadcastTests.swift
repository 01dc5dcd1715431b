import EventBus
import Foundation
import RedisClient
import Synchronization
import TestSupport
import Testing
import WireFormat

@Suite("A broadcast reader", .timeLimit(.minutes(3)))
struct BroadcastTests {
    private final class Inbox: Sendable {
        private let received = Mutex<[String]>([])
        var all: [String] { received.withLock { $0 } }

        func reader(_ transport: any EventTransport) -> BroadcastReader {
            BroadcastReader(
                transport: transport, readWait: .milliseconds(500), logger: .quiet,
                handlers: [
                    .on(PhotoUploaded.self) { event in self.received.withLock { $0.append(event.body.topic) } },
                    .on(NotificationAddressed.self) { event in
                        self.received.withLock { $0.append("\(event.body.lane.rawValue) \(event.body.count)") }
                    },
                ])
        }
    }

    /// Appends messages to both streams until all readers have received one of each: they read each stream over a connection of its own,
    /// and do not get messages from before its start.
    private func waitUntilReading(_ inboxes: [Inbox], _ transport: any EventTransport) async throws {
        try await eventually("all readers read") {
            try await transport.append([0])
            try await appendUrgent(0, to: transport)
            return inboxes.allSatisfy { Set($0.all).isSuperset(of: ["0", "urgent 0"]) }
        }
    }

    private func appendUrgent(_ count: Int, to transport: any EventTransport) async throws {
        let urgent = NotificationAddressed(notificationID: UUID(), pageID: UUID(), count: count, lane: .urgent)
        _ = try await transport.append([OutgoingEntry(stream: urgent.stream, envelope: try Envelope(urgent).encoded())])
    }

    @Test(arguments: TransportKind.allCases)
    func `of each instance gets every event of all lanes once`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.append([99])
        let inboxes = [Inbox(), Inbox()]
        let readers = inboxes.map { $0.reader(transport) }
        try await withRunning({
            try await withThrowingTaskGroup { group in
                for reader in readers { group.addTask { try await reader.run() } }
                try await group.waitForAll()
            }
        }) {
            try await waitUntilReading(inboxes, transport)
            try await transport.append([1, 2])
            try await appendUrgent(1, to: transport)
            for inbox in inboxes {
                try await eventually("the last ones have come") { Set(inbox.all).isSuperset(of: ["2", "urgent 1"]) }
                #expect(inbox.all.filter { !["0", "urgent 0"].contains($0) }.sorted() == ["1", "2", "urgent 1"])
            }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `skips unreadable entries`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let inbox = Inbox()
        let reader = inbox.reader(transport)
        try await withRunning({ try await reader.run() }) {
            try await waitUntilReading([inbox], transport)
            try await transport.appendGarbage()
            try await transport.append([5])
            try await eventually("the readable one has come") { inbox.all.contains("5") }
        }
    }

    @Test func `continues after its connection was cut`() async throws {
        let server = try await RedisServer.start()
        try await withRedisTransport(on: server) { transport in
            let inbox = Inbox()
            let reader = inbox.reader(transport)
            try await withRunning({ try await reader.run() }) {
                try await waitUntilReading([inbox], transport)
                try await server.cli("CLIENT", "KILL", "TYPE", "normal")
                let before = inbox.all.count
                try await eventually("it reads again") {
                    _ = try? await transport.append([6])
                    return inbox.all.count > before && inbox.all.contains("6")
                }
            }
        }
        await server.stop()
    }
}
