import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing

struct PushInstallRepositoryTests {
    @Test func `a first registration creates an active installation without a user`() async throws {
        try await withStorage { client in
            let installs = PushInstallRepository(client)
            var registration = PushRegistration.make(1)
            registration.platform = "ios"
            registration.locale = "de-DE"
            let install = try await installs.upsertSeen(registration)
            #expect(install.state == .active)
            #expect(install.userID == nil)
            #expect(install.generation == 1)
            #expect(install.platform == "ios" && install.locale == "de-DE" && install.appVersion == nil)
            #expect(try await installs.find(ids: [install.id, UUID()]) == [install])
            #expect(try await installs.find(installationKeys: [hash(1), hash(2)]) == [install])
        }
    }

    @Test func `a new token keeps row and user, and increases the generation`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make()
            let installs = PushInstallRepository(client)
            let now = Date()
            let first = try await installs.upsertSeen(.make(1, value: 1, seenAt: now))
            _ = try await installs.bind(installationKey: hash(1), userID: user.id)
            let same = try await installs.upsertSeen(.make(1, value: 1, seenAt: now + 1))
            let stranger = try await installs.upsertSeen(.make(1, value: 3, seenAt: now + 2))
            #expect(stranger == same, "only a session of its user can replace the token")
            var own = PushRegistration.make(1, value: 2, seenAt: now + 2)
            own.provenUserID = user.id
            let second = try await installs.upsertSeen(own)
            let late = try await installs.upsertSeen(.make(1, value: 1, seenAt: now + 1))
            #expect(same.generation == 1)
            #expect(second.id == first.id && second.userID == user.id)
            #expect(second.generation == 2 && second.valueSealed == [2])
            #expect(late == second, "an older registration does not restore the old token")
        }
    }

    @Test func `an unchanged registration of the same day writes nothing`() async throws {
        try await withStorage { client in
            let installs = PushInstallRepository(client)
            let now = Date()
            func place() async throws -> String {
                try await client.query("SELECT ctid::text AS place FROM push_installs")[0].decode("place")
            }
            _ = try await installs.upsertSeen(.make(1, seenAt: now))
            let before = try await place()
            _ = try await installs.upsertSeen(.make(1, seenAt: now + 3600))
            #expect(try await place() == before)
            let nextDay = try await installs.upsertSeen(.make(1, seenAt: now + 90_000))
            #expect(nextDay.lastSeenAt > now + 80_000)
        }
    }

    @Test func `a batch takes the newest of each installation, and concurrent batches do not deadlock`() async throws {
        try await withStorage { client in
            let installs = PushInstallRepository(client)
            let now = Date()
            let seen = try await race(8) { worker in
                let batch = (0..<50).shuffled().flatMap { seed in
                    [PushRegistration.make(seed, value: 1, seenAt: now), .make(seed, value: 2, seenAt: now + 1)]
                }
                return try await installs.upsertSeen(batch).map(\.id)
            }
            #expect(seen.allSatisfy { Set($0).count == 50 })
            #expect(Set(seen.flatMap { $0 }).count == 50)
            let rows = try await installs.find(installationKeys: (0..<50).map(hash))
            #expect(rows.allSatisfy { $0.valueSealed == [2] })
        }
    }

    @Test func `concurrent first registrations of an installation create one row, without an error`() async throws {
        try await withStorage { client in
            let installs = PushInstallRepository(client)
            for seed in 0..<100 {
                let seen = try await race(12) { _ in try await installs.upsertSeen(.make(seed)).id }
                #expect(Set(seen).count == 1)
            }
        }
    }

    @Test func `an installation has one user: a login takes it over, a late logout leaves it there`() async throws {
        try await withStorage { client in
            let first = try await UserRepository(client).make(1).id
            let second = try await UserRepository(client).make(2).id
            let installs = PushInstallRepository(client)
            _ = try await installs.upsertSeen(.make(1))
            #expect(try await installs.bind(installationKey: hash(1), userID: first) != nil)
            #expect(try await installs.find(userIDs: [first]).map(\.generation) == [1], "first binding")
            #expect(try await installs.bind(installationKey: hash(1), userID: second) != nil)
            #expect(try await installs.find(userIDs: [first]).isEmpty)
            #expect(try await installs.find(userIDs: [second]).map(\.generation) == [2], "passed on")
            #expect(try await installs.unregister(installationKey: hash(1), userID: first) == nil)
            #expect(try await installs.find(userIDs: [second]).count == 1)
            #expect(try await installs.unregister(installationKey: hash(1), userID: second) != nil)
            #expect(try await installs.find(installationKeys: [hash(1)]).isEmpty)
            #expect(try await installs.bind(installationKey: hash(1), userID: second) == nil, "unknown")
        }
    }

    @Test func `a claim binds an unknown installation or one without a user, and keeps the value of a known one`() async throws {
        try await withStorage { client in
            let first = try await UserRepository(client).make(1).id
            let second = try await UserRepository(client).make(2).id
            let installs = PushInstallRepository(client)
            #expect(try await installs.claim(.make(1, value: 1), userID: first) != nil, "unknown")
            #expect(try await installs.claim(.make(1, value: 2), userID: first) != nil, "the user's own")
            #expect(try await installs.claim(.make(1, value: 3), userID: second) == nil, "another user's")
            #expect(try await installs.find(userIDs: [first]).map(\.valueSealed) == [[1]])
            _ = try await installs.upsertSeen(.make(2, value: 1))
            #expect(try await installs.claim(.make(2, value: 2), userID: second) != nil, "without a user")
            let claimed = try await installs.find(userIDs: [second])
            #expect(claimed.map(\.valueSealed) == [[1]] && claimed.map(\.generation) == [1])
        }
    }

    @Test func `after concurrent logins on an installation, only the last user has it`() async throws {
        try await withStorage { client in
            let installs = PushInstallRepository(client)
            _ = try await installs.upsertSeen(.make(1))
            var users: [UUID] = []
            for seed in 0..<10 { users.append(try await UserRepository(client).make(seed).id) }
            let ids = users
            _ = try await race(10) { try await installs.bind(installationKey: hash(1), userID: ids[$0])?.removedIDs }
            #expect(try await installs.find(userIDs: users).count == 1)
        }
    }

    @Test func `a dead token is marked only in the generation it was sent to, and a new registration revives it`()
        async throws
    {
        try await withStorage { client in
            let installs = PushInstallRepository(client)
            let now = Date()
            let install = try await installs.upsertSeen(.make(1, seenAt: now))
            let stale = DeadInstall(id: install.id, generation: 7, code: "UNREGISTERED")
            let dead = DeadInstall(id: install.id, generation: 1, code: "UNREGISTERED")
            #expect(try await installs.markDead([stale]).invalid.isEmpty)
            #expect(try await installs.markDead([dead, dead]).invalid == [install.id])
            #expect(try await installs.markDead([dead]).invalid.isEmpty)
            let before = try await installs.upsertSeen(.make(1, seenAt: now))
            #expect(before.state == .invalid, "that registration was made before the token died")
            let after = try await installs.upsertSeen(.make(1, seenAt: Date(timeIntervalSinceNow: 5)))
            #expect(after.state == .active && after.invalidAt == nil)
        }
    }
}
