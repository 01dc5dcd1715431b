import FCMEmulator
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// What an end without a goodbye costs: time, and no push.
@Suite struct CrashTests {
    @Test func `a notifier killed in a fan-out costs no push, and repeats only what was under way`() async throws {
        try await PushSystem.with { system in
            let count = FanOutSize.targets(600)
            _ = try await system.crowd(count)
            // A third is answered. What follows arrives and is not: the sender cannot come to the end before it is killed.
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
            // What it had sent is in the emulator's sockets for a moment longer.
            try await eventually("the dead one's connections are read to their end") {
                system.emulator.statistics.openConnections == 0
            }
            // And what it had asked of the database may be under way there.
            try await eventually("the dead one's transactions are over") {
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
            // What the dead one had claimed is others' when its lease has ended; here that is now.
            try await system.postgres.execute("UPDATE push_leases SET lease_until = now() - interval '1 second'")
            #expect(before.count < count, "it was killed before the end")
            try system.services.start("notifier", as: "notifier-2")
            let states = try await system.settled(id)
            #expect(states == ["accepted": count], "\(system.services.tail(of: "notifier-2"))")
            let counts = system.emulator.acceptedCounts
            let repeated = counts.filter { $0.key > 1 }.values.reduce(0, +)
            #expect(counts[0] == nil && counts.keys.max() ?? 0 <= 2)
            #expect(repeated <= before.count - written, "only what was sent and not yet written down is sent twice")
            let collapseIDs = Set(
                await system.emulator.messages().map { $0.message["apns"]?["headers"]?["apns-collapse-id"]?.string })
            #expect(collapseIDs.count == 1 && !collapseIDs.contains(nil), "on the phone a repetition replaces")
        }
    }

    @Test func `a database that crashes in a fan-out costs no push, and what it has forgotten replaces itself`() async throws {
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
            // What was claimed before the crash is sent again when its lease has ended; here that is now.
            try await eventually("the leases have ended") {
                try? await system.postgres.execute("UPDATE push_leases SET lease_until = now() - interval '1 second'")
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
