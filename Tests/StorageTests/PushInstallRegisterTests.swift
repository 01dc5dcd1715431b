import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing

struct PushInstallRegisterTests {
    @Test func `a registration binds, and the generation increases only with a new value or another user`() async throws {
        try await withStorage { client in
            let (first, second) = (try await client.user(1), try await client.user(2))
            let now = Date()
            let new = try await client.register(.make(1, value: 1, seenAt: now), first)
            #expect(new.install.userID == first && new.install.generation == 1 && new.removedIDs.isEmpty)
            #expect(try await client.register(.make(1, value: 2, seenAt: now + 1), first).install.generation == 2, "value")
            #expect(try await client.register(.make(1, value: 2, seenAt: now + 2), second).install.generation == 3, "user")
            let both = try await client.register(.make(1, value: 3, seenAt: now + 3), first).install
            #expect(both.generation == 4 && both.id == new.install.id && both.valueSealed == [3], "both")
        }
    }

    @Test func `an unchanged registration of the same day writes and locks nothing`() async throws {
        try await withStorage { client in
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
    }

    @Test func `an older registration binds, but does not restore the old value`() async throws {
        try await withStorage { client in
            let (first, second) = (try await client.user(1), try await client.user(2))
            let now = Date()
            _ = try await client.register(.make(1, value: 2, seenAt: now), first)
            let late = try await client.register(.make(1, value: 1, seenAt: now - 60), second)
            #expect(late.install.userID == second && late.install.valueSealed == [2] && late.install.generation == 2)
        }
    }

    @Test func `a dead value does not block another one that was sent before and registers after its death`() async throws {
        try await withStorage { client in
            let (first, second) = (try await client.user(1), try await client.user(2))
            let now = Date()
            let old = try await client.register(.make(1, value: 1, seenAt: now - 60), first).install
            _ = try await PushInstallRepository(client).markDead([
                DeadInstall(id: old.id, generation: old.generation, sentAt: now, code: "UNREGISTERED")
            ])
            let new = try await client.register(.make(1, value: 2, seenAt: now - 30), second).install
            #expect(new.valueSealed == [2] && new.state == .active && new.userID == second)
        }
    }

    @Test func `above the limit, dead installations are deleted first, then the one not seen for longest`() async throws {
        try await withStorage { client in
            let user = try await client.user()
            let now = Date()
            var installs: [PushInstall] = []
            for seed in 0..<PushInstallLimits.maxPerUser {
                let registration = PushRegistration.make(seed, seenAt: now - Double(seed))
                installs.append(try await client.register(registration, user).install)
            }
            let dead = DeadInstall(id: installs[3].id, generation: 1, code: "UNREGISTERED")
            try await PushInstallRepository(client).markDead([dead])
            #expect(try await client.register(.make(100, seenAt: now), user).removedIDs == [installs[3].id])
            let old = PushRegistration.make(101, seenAt: now - 1000)
            #expect(try await client.register(old, user).removedIDs == [installs.last?.id], "not itself, though it is older")
            #expect(try await PushInstallRepository(client).find(userIDs: [user]).count == PushInstallLimits.maxPerUser)
        }
    }

    @Test func `concurrent registrations of a user do not exceed the limit`() async throws {
        try await withStorage { client in
            let user = try await client.user()
            _ = try await race(30) { try await client.register(.make($0), user).removedIDs }
            #expect(try await PushInstallRepository(client).find(userIDs: [user]).count == PushInstallLimits.maxPerUser)
            _ = try await race(30) { seed in
                try await client.withTransaction { try await PushInstallRepository($0).claim(.make(100 + seed), userID: user) != nil }
            }
            #expect(try await PushInstallRepository(client).find(userIDs: [user]).count == PushInstallLimits.maxPerUser)
        }
    }

    @Test func `after concurrent logins on an installation one user has it, and each login increased the generation`() async throws {
        try await withStorage { client in
            var users: [UUID] = []
            for seed in 0..<10 { users.append(try await client.user(seed)) }
            let ids = users
            let now = Date()
            let results = try await race(10) { try await client.register(.make(1, seenAt: now), ids[$0]).install }
            let left = try await PushInstallRepository(client).find(userIDs: users)
            #expect(left.count == 1 && left.first?.generation == 10)
            #expect(Set(results.map(\.generation)) == Set(1...10) && Set(results.map(\.id)).count == 1)
        }
    }

    @Test func `a logout concurrent with the next login never unbinds the next user`() async throws {
        try await withStorage { client in
            let (first, second) = (try await client.user(1), try await client.user(2))
            for round in 0..<20 {
                _ = try await client.register(.make(round), first)
                _ = try await race(2) { turn -> UUID? in
                    if turn == 0 { return try await client.register(.make(round, seenAt: Date()), second).install.id }
                    return try await PushInstallRepository(client).unregister(installationKey: hash(round), userID: first)
                }
                #expect(try await client.installs([hash(round)]).map(\.userID) == [second])
                _ = try await PushInstallRepository(client).unregister(installationKey: hash(round), userID: second)
            }
        }
    }

    @Test func `the audit has every change of an installation, without its value`() async throws {
        try await withStorage { client in
            let (first, second) = (try await client.user(1), try await client.user(2))
            let now = Date()
            let install = try await client.register(.make(1, value: 1, seenAt: now), first).install
            _ = try await client.register(.make(1, value: 1, seenAt: now + 90_000), first)
            _ = try await client.register(.make(1, value: 2, seenAt: now + 90_001), first)
            _ = try await client.register(.make(1, value: 2, seenAt: now + 90_002), second)
            try await PushInstallRepository(client).markDead([
                DeadInstall(id: install.id, generation: 3, sentAt: now + 100_000, code: "UNREGISTERED")
            ])
            try await PushInstallRepository(client).unregister(installationKey: hash(1), userID: second)
            let rows = try await client.query("SELECT * FROM push_install_audit ORDER BY id")
            #expect(try rows.map { try $0.decode("event", as: String.self) } == ["registered", "rotated", "bound", "state", "removed"])
            #expect(try rows.allSatisfy { try $0.decode("install_id", as: UUID.self) == install.id })
            #expect(try rows.map { try $0.decode("new_user_id", as: UUID?.self) } == [first, first, second, second, nil])
        }
    }
}

extension PostgresClient {
    /// Creates a user, and returns its id.
    func user(_ seed: Int = 1) async throws -> UUID { try await UserRepository(self).make(seed).id }

    /// Registers in a transaction, as identity-api does.
    func register(_ registration: PushRegistration, _ userID: UUID) async throws -> RegisteredInstall {
        try await withTransaction { try await PushInstallRepository($0).register(registration, userID: userID) }
    }
}
