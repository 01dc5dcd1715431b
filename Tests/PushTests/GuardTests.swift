import FCMEmulator
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

/// An FCM that reports living tokens as dead does not empty the registry.
@Suite struct GuardTests {
    /// The most installations that are pruned before the guard trips.
    private static let maxTrusted = 200

    @Test func `when every token is reported as dead, the guard trips and no installation is deleted`() async throws {
        try await PushSystem.with { system in
            let count = FanOutSize.targets(900)
            _ = try await system.crowd(count)
            var dead = FaultRule(.error(.unregistered))
            dead.count = nil
            system.emulator.addFault(dead)
            let id = try await system.fanOut()
            try await system.settled(id)
            let states = try await eventually("the registry has handled all outcomes") {
                let states = try await system.installStates()
                return states["active"] == nil ? states : nil
            }
            #expect((states["invalid"] ?? 0) + (states["suspect"] ?? 0) == count, "no row is gone: \(states)")
            #expect(states["invalid"] ?? 0 <= Self.maxTrusted, "\(states)")
            system.emulator.clearFaults()
            // An hour later.
            try await system.postgres.execute("UPDATE push_installs SET suspect_until = now() WHERE state = 'suspect'")
            let suspects = states["suspect"] ?? 0
            #expect(try await system.settled(try await system.fanOut()) == ["accepted": suspects])
            try await eventually("the reached installations are active again") {
                try await system.installStates()["active"] == suspects ? () : nil
            }
        }
    }
}
