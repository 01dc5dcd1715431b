import FCMEmulator
import FoundationEssentials
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Crashes cost time, and no push.
@Suite struct CrashTests {
    @Test func `killing a notifier in a fan-out loses no push, and only pushes in flight are repeated`() async throws {
        try await PushSystem.with { system in
            let count = FanOutSize.targets(600)
            _ = try await system.crowd(count)
            // A third is answered. The other pushes arrive without an answer, so that the sender cannot finish before it is killed.
            var silence = FaultRule(.hang)
            silence.isDelivered = true
            silence.count = nil
            silence.skip = count / 3
            system.emulator.addFault(silence)
            let id = try await system.fanOut()
            try await eventually("a third is sent; \(system.services.tail(of: "notifier"))") {
                system.emulator.statistics.accepted > count / 3
            }
            await system.services.kill("notifier")
            // Its last requests are in the emulator's sockets for a moment longer.
            try await eventually("the connections of the killed notifier are closed") {
                system.emulator.statistics.openConnections == 0
            }
            // Its last statements may still run in the database.
            try await eventually("the transactions of the killed notifier are over") {
                try await system.postgres.query(
                    """
                    SELECT FROM pg_stat_activity
                    WHERE application_name = 'notifier' AND datname = current_database()
                    """
                ).isEmpty
            }
            let before = Set(await system.emulator.messages().compactMap(\.registration))
            system.emulator.clearFaults()
            let written = try await system.states(of: id)["accepted"] ?? 0
            // Ends the leases of the killed notifier now, so that others claim its deliveries.
            try await system.postgres.execute("UPDATE delivery_pages SET due_at = now() - interval '1 second' WHERE state = 'sending'")
            #expect(before.count < count, "it was killed before the end")
            try system.services.start("notifier", as: "notifier-2")
            let states = try await system.settled(id)
            #expect(states == ["accepted": count], "\(system.services.tail(of: "notifier-2"))")
            let counts = system.emulator.acceptedCounts
            let repeated = counts.filter { $0.key > 1 }.values.reduce(0, +)
            #expect(counts[0] == nil && counts.keys.max() ?? 0 <= 2)
            #expect(repeated <= before.count - written, "only pushes whose outcome was not written are sent twice")
            let collapseIDs = Set(
                await system.emulator.messages().map { $0.message["apns"]?["headers"]?["apns-collapse-id"]?.string })
            #expect(collapseIDs.count == 1 && !collapseIDs.contains(nil), "on the phone a repetition replaces")
        }
    }

    @Test func `a database crash in a fan-out loses no push, and repeated pushes replace themselves`() async throws {
        let server = try await PostgresServer.start()
        try await PushSystem.with(on: server) { system in
            let count = FanOutSize.targets(600)
            _ = try await system.crowd(count)
            let id = try await system.fanOut()
            try await eventually("a third is sent; \(system.services.tail(of: "notifier"))") {
                system.emulator.statistics.accepted > count / 3
            }
            await server.kill()
            try await server.start()
            // Ends the leases now, so that deliveries claimed before the crash are sent again.
            try await eventually("the leases have ended") {
                try? await system.postgres.execute("UPDATE delivery_pages SET due_at = now() - interval '1 second' WHERE state = 'sending'")
            }
            let states = try await system.settled(id)
            #expect(states == ["accepted": count], "\(system.services.tail(of: "notifier"))")
            #expect(system.emulator.acceptedCounts[0] == nil)
            let collapseIDs = Set(
                await system.emulator.messages().map { $0.message["apns"]?["headers"]?["apns-collapse-id"]?.string })
            #expect(collapseIDs.count == 1 && !collapseIDs.contains(nil), "on the phone a repetition replaces")
        }
        await server.stop()
    }
}
