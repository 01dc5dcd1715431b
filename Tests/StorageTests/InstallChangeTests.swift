import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

@testable import Push

struct InstallChangeTests {
    /// A row of the installation 1 with the value 1, registered and seen at `now`.
    private func row(_ userID: UUID?, _ state: PushInstall.State = .active, on client: PostgresClient) async throws -> PushInstall {
        try await client.execute("DELETE FROM push_installs")
        let install = try await installs.registerUnbound(.make(1, seenAt: now))
        if let userID { _ = try await installs.bind(install.id, userID: userID, seenAt: now) }
        if state == .invalid { try await client.execute("UPDATE push_installs SET state = 'invalid', invalid_at = \(now + 60)") }
        if state == .stale { try await client.execute("UPDATE push_installs SET state = 'stale'") }
        return try #require(try await installs.find(ids: [install.id]).first)
    }

    private let now = Date(timeIntervalSinceReferenceDate: 700_000_000)

    @Test(.storage) func `what a registration and a claim change`() async throws {
        let (ada, ben) = (try await client.user(1), try await client.user(2))
        struct Case {
            let owner: UUID?
            var state = PushInstall.State.active
            var value = 1
            var after: TimeInterval = 3600
            let registering: InstallChange
            let claiming: InstallChange?
        }
        let day = 90_000.0
        let cases = [
            Case(owner: nil, registering: .replace, claiming: nil),
            Case(owner: ada, registering: .none, claiming: InstallChange.none),
            Case(owner: ada, after: day, registering: .replace, claiming: .seen),
            Case(owner: ada, value: 2, registering: .replace, claiming: InstallChange.none),
            Case(owner: ada, value: 2, after: -1, registering: .none, claiming: InstallChange.none),
            Case(owner: ada, state: .stale, registering: .replace, claiming: InstallChange.none),
            Case(owner: ada, state: .invalid, registering: .replace, claiming: InstallChange.none),
            Case(owner: ada, state: .invalid, after: 30, registering: .none, claiming: InstallChange.none),
            Case(owner: ben, registering: .replace, claiming: nil),
            Case(owner: ben, value: 2, after: -1, registering: .bind, claiming: nil),
            Case(owner: ben, state: .invalid, after: 30, registering: .bind, claiming: nil),
        ]
        for (number, expected) in cases.enumerated() {
            let row = try await row(expected.owner, expected.state, on: client)
            let registration = PushRegistration.make(1, value: expected.value, seenAt: now + expected.after)
            #expect(InstallChange(registering: registration, userID: ada, over: row) == expected.registering, "\(number)")
            #expect(InstallChange(claiming: registration, userID: ada, over: row) == expected.claiming, "\(number)")
        }
    }
}
