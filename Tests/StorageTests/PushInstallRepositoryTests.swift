import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing

struct PushInstallRepositoryTests {
    @Test(.storage) func `a first registration creates an active installation without a user`() async throws {
        var registration = PushRegistration.make(1)
        registration.platform = "ios"
        registration.locale = "de-DE"
        let install = try await installs.registerUnbound(registration)
        #expect(install.state == .active)
        #expect(install.userID == nil)
        #expect(install.generation == 1)
        #expect(install.platform == "ios")
        #expect(install.locale == "de-DE")
        #expect(install.appVersion == nil)
        #expect(try await installs.find(ids: [install.id, UUID()]) == [install])
        #expect(try await client.installs([hash(1), hash(2)]) == [install])
    }

    @Test(.storage) func `an upload does not replace the token of a user's installation, and its own token gets a row of its own`()
        async throws
    {
        let user = try await client.user()
        let now = Date()
        let bound = try await client.register(.make(1, value: 1, seenAt: now), user).install
        #expect(try await installs.registerUnbound(.make(1, value: 1, seenAt: now + 1)) == bound, "the same token")
        let other = try await installs.registerUnbound(.make(1, value: 2, seenAt: now + 2))
        #expect(other.id != bound.id)
        #expect(other.userID == nil)
        #expect(other.valueSealed == [2])
        #expect(try await installs.registerUnbound(.make(1, value: 2, seenAt: now + 3)) == other)
        #expect(try await installs.find(userIDs: [user]) == [bound])
    }

    @Test(.storage) func `a redeemed sign-in gives its token to the user's row, or its row to the user if there is none`() async throws {
        let (first, second) = (try await client.user(1), try await client.user(2))
        let now = Date()
        let upload = try await installs.registerUnbound(.make(1, value: 1, seenAt: now))
        let bound = try #require(try await installs.bind(upload.id, userID: first, seenAt: now)).install
        #expect(bound.id == upload.id)
        #expect(bound.userID == first)
        #expect(bound.generation == 1)
        let newer = try await installs.registerUnbound(.make(1, value: 2, seenAt: now + 1))
        let passed = try #require(try await installs.bind(newer.id, userID: second, seenAt: now + 1)).install
        #expect(passed.id == bound.id)
        #expect(passed.userID == second)
        #expect(passed.generation == 2)
        #expect(passed.valueSealed == [2])
        #expect(try await installs.find(ids: [newer.id]).first?.userID == nil, "its push may be on its way")
        #expect(try await installs.bind(UUID(), userID: second, seenAt: now) == nil)
    }

    @Test(.storage) func `an upload older than the token of the user's row binds, and does not restore the old token`() async throws {
        let (first, second) = (try await client.user(1), try await client.user(2))
        let now = Date()
        let upload = try await installs.registerUnbound(.make(1, value: 1, seenAt: now))
        _ = try await client.register(.make(1, value: 2, seenAt: now + 1), first)
        let bound = try #require(try await installs.bind(upload.id, userID: second, seenAt: now)).install
        #expect(bound.userID == second)
        #expect(bound.valueSealed == [2])
        #expect(bound.generation == 2)
    }

    @Test(.storage) func `an unchanged registration of the same day writes nothing`() async throws {
        let now = Date()
        func place() async throws -> String {
            try await client.query("SELECT ctid::text AS place FROM push_installs")[0].decode("place")
        }
        _ = try await installs.registerUnbound(.make(1, seenAt: now))
        let before = try await place()
        _ = try await installs.registerUnbound(.make(1, seenAt: now + 3600))
        #expect(try await place() == before)
        let nextDay = try await installs.registerUnbound(.make(1, seenAt: now + 90_000))
        #expect(nextDay.lastSeenAt > now + 80_000)
    }

    @Test(.storage) func `concurrent first registrations of an installation create one row, without an error`() async throws {
        for seed in 0..<100 {
            let seen = try await race(12) { _ in try await installs.registerUnbound(.make(seed)).id }
            #expect(Set(seen).count == 1)
        }
    }

    @Test(.storage) func `a claim confirms the user's own installation, keeps its value, and binds no other`() async throws {
        let first = try await client.user(1)
        let second = try await client.user(2)
        #expect(try await installs.claim(.make(1, value: 1), userID: first) == nil, "unknown")
        _ = try await client.register(.make(1, value: 1), first)
        #expect(try await installs.claim(.make(1, value: 2), userID: first) != nil, "the user's own")
        #expect(try await installs.claim(.make(1, value: 3), userID: second) == nil, "another user's")
        #expect(try await installs.find(userIDs: [first]).map(\.valueSealed) == [[1]])
        _ = try await installs.registerUnbound(.make(2, value: 1))
        #expect(try await installs.claim(.make(2, value: 1), userID: second) == nil, "without a user")
        #expect(try await installs.find(userIDs: [second]).isEmpty)
    }

    @Test(.storage) func `after concurrent logins on an installation, only the last user has it`() async throws {
        var (uploads, users): ([PushInstall], [UUID]) = ([], [])
        for seed in 0..<10 {
            uploads.append(try await installs.registerUnbound(.make(1, value: seed % 3)))
            users.append(try await client.user(seed))
        }
        let (rows, ids) = (uploads, users)
        _ = try await race(10) { turn in
            try await client.withTransaction {
                try await PushInstallRepository($0).bind(rows[turn].id, userID: ids[turn], seenAt: Date())?.removedIDs
            }
        }
        #expect(try await installs.find(userIDs: users).count == 1)
    }

    @Test(.storage) func `a dead token is marked only in the generation it was sent to, and a new registration revives it`()
        async throws
    {
        let now = Date()
        let install = try await installs.registerUnbound(.make(1, seenAt: now))
        let stale = DeadInstall(id: install.id, generation: 7, code: "UNREGISTERED")
        let dead = DeadInstall(id: install.id, generation: 1, code: "UNREGISTERED")
        #expect(try await installs.markDead([stale]).invalid.isEmpty)
        #expect(try await installs.markDead([dead, dead]).invalid == [install.id])
        #expect(try await installs.markDead([dead]).invalid.isEmpty)
        let before = try await installs.registerUnbound(.make(1, seenAt: now))
        #expect(before.state == .invalid, "that registration was made before the token died")
        let after = try await installs.registerUnbound(.make(1, seenAt: Date(timeIntervalSinceNow: 5)))
        #expect(after.state == .active && after.invalidAt == nil)
    }
}
