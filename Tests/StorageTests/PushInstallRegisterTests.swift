import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing

struct PushInstallRegisterTests {
    @Test(.storage) func `an unchanged registration of the same day writes and locks nothing`() async throws {
        let user = try await client.user()
        let now = Date()
        func version() async throws -> String {
            try await client.query("SELECT ctid::text || ' ' || xmax::text AS version FROM push_installs")[0].decode("version")
        }
        _ = try await client.register(.make(1, seenAt: now), user)
        let before = try await version()
        let same = try await client.register(.make(1, seenAt: now + 3600), user)
        #expect(same.install.userID == user)
        #expect(try await version() == before)
        _ = try await client.register(.make(1, seenAt: now + 90_000), user)
        #expect(try await version() != before, "a day later")
    }

    @Test(.storage) func `an older registration binds, but does not restore the old value`() async throws {
        let (first, second) = (try await client.user(1), try await client.user(2))
        let now = Date()
        _ = try await client.register(.make(1, value: 2, seenAt: now), first)
        let late = try await client.register(.make(1, value: 1, seenAt: now - 60), second)
        #expect(late.install.userID == second)
        #expect(late.install.valueSealed == [2])
        #expect(late.install.generation == 2)
    }

    @Test(.storage) func `a dead value does not block another one that was sent before and registers after its death`() async throws {
        let (first, second) = (try await client.user(1), try await client.user(2))
        let now = Date()
        let old = try await client.register(.make(1, value: 1, seenAt: now - 60), first).install
        _ = try await installs.markDead([
            DeadInstall(id: old.id, generation: old.generation, sentAt: now, code: "UNREGISTERED")
        ])
        let new = try await client.register(.make(1, value: 2, seenAt: now - 30), second).install
        #expect(new.valueSealed == [2])
        #expect(new.state == .active)
        #expect(new.userID == second)
    }

    @Test(.storage) func `above the limit, dead installations are deleted first, then the one not seen for longest`() async throws {
        let user = try await client.user()
        let now = Date()
        var registered: [PushInstall] = []
        for seed in 0..<PushInstallLimits.maxPerUser {
            let registration = PushRegistration.make(seed, seenAt: now - Double(seed))
            registered.append(try await client.register(registration, user).install)
        }
        let dead = DeadInstall(id: registered[3].id, generation: 1, code: "UNREGISTERED")
        try await installs.markDead([dead])
        #expect(try await client.register(.make(100, seenAt: now), user).removedIDs == [registered[3].id])
        let old = PushRegistration.make(101, seenAt: now - 1000)
        #expect(try await client.register(old, user).removedIDs == [registered.last?.id], "not itself, though it is older")
        #expect(try await installs.find(userIDs: [user]).count == PushInstallLimits.maxPerUser)
    }

    @Test(.storage) func `concurrent registrations of a user do not exceed the limit`() async throws {
        let user = try await client.user()
        _ = try await race(30) { try await client.register(.make($0), user).removedIDs }
        #expect(try await installs.find(userIDs: [user]).count == PushInstallLimits.maxPerUser)
    }

    @Test(.storage) func `after concurrent logins on an installation one user has it, and each login increased the generation`()
        async throws
    {
        var users: [UUID] = []
        for seed in 0..<10 { users.append(try await client.user(seed)) }
        let ids = users
        let now = Date()
        let results = try await race(10) { try await client.register(.make(1, seenAt: now), ids[$0]).install }
        let left = try await installs.find(userIDs: users)
        #expect(left.count == 1 && left.first?.generation == 10)
        #expect(Set(results.map(\.generation)) == Set(1...10) && Set(results.map(\.id)).count == 1)
    }

    @Test(.storage) func `a logout concurrent with the next login never unbinds the next user`() async throws {
        let (first, second) = (try await client.user(1), try await client.user(2))
        for round in 0..<20 {
            _ = try await client.register(.make(round), first)
            _ = try await race(2) { turn -> UUID? in
                if turn == 0 { return try await client.register(.make(round, seenAt: Date()), second).install.id }
                return try await installs.unregister(installationKey: hash(round), userID: first)
            }
            #expect(try await client.installs([hash(round)]).map(\.userID) == [second])
            _ = try await installs.unregister(installationKey: hash(round), userID: second)
        }
    }

    @Test(.storage) func `the audit has every change of an installation, without its value`() async throws {
        let (first, second) = (try await client.user(1), try await client.user(2))
        let now = Date()
        let install = try await client.register(.make(1, value: 1, seenAt: now), first).install
        _ = try await client.register(.make(1, value: 1, seenAt: now + 90_000), first)
        _ = try await client.register(.make(1, value: 2, seenAt: now + 90_001), first)
        _ = try await client.register(.make(1, value: 2, seenAt: now + 90_002), second)
        try await installs.markDead([
            DeadInstall(id: install.id, generation: 3, sentAt: now + 100_000, code: "UNREGISTERED")
        ])
        try await installs.unregister(installationKey: hash(1), userID: second)
        let rows = try await client.query("SELECT * FROM push_install_audit ORDER BY id")
        #expect(try rows.map { try $0.decode("event", as: String.self) } == ["registered", "rotated", "bound", "state", "removed"])
        #expect(try rows.allSatisfy { try $0.decode("install_id", as: UUID.self) == install.id })
        #expect(try rows.map { try $0.decode("new_user_id", as: UUID?.self) } == [first, first, second, second, nil])
    }
}
