import Accounts
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing

struct PushInstallPruneTests {
    @Test(.storage) func `an answer does not mark a value as dead that was registered after the push was sent`() async throws {
        let now = Date()
        let install = try await installs.registerUnbound(.make(1, seenAt: now))
        let early = DeadInstall(id: install.id, generation: 1, sentAt: now - 1, code: "UNREGISTERED")
        #expect(try await installs.markDead([early]).invalid.isEmpty)
        let late = DeadInstall(id: install.id, generation: 1, sentAt: now + 1, code: "UNREGISTERED")
        #expect(try await installs.markDead([late]).invalid == [install.id])
    }

    @Test(.storage) func `a registration concurrent with a pruning wins, or revives`() async throws {
        let user = try await client.user()
        for round in 0..<20 {
            let old = try await client.register(.make(round, value: 1, seenAt: Date(timeIntervalSinceNow: -60)), user).install
            let dead = DeadInstall(id: old.id, generation: old.generation, code: "UNREGISTERED")
            _ = try await race(2) { turn in
                if turn == 0 { return try await installs.markDead([dead]).invalid.count }
                let new = PushRegistration.make(round, value: 2, seenAt: Date(timeIntervalSinceNow: 60))
                return Int(try await client.register(new, user).install.generation)
            }
            let left = try await installs.find(ids: [old.id]).first
            #expect(left?.state == .active && left?.valueSealed == [2])
            try await installs.unregister(installationKey: hash(round), userID: user)
        }
    }

    @Test(.storage) func `the guard trips by number, share and baseline, once over all instances`() async throws {
        var rule = PushGuardRule()
        rule.minDead = 10
        let guarding = PushGuardRepository(client, rule: rule)
        try await guarding.count(sent: 1_000, dead: 100)
        #expect(try await !guarding.evaluate().isTripped, "one of ten")
        try await guarding.count(sent: 300, dead: 300)
        // For the last week, 200 an hour: then 400 in five minutes exceed five times the baseline, and 30 do not.
        try await client.execute(
            """
            INSERT INTO push_outcomes SELECT date_trunc('minute', now()) - make_interval(hours => n), 0, 200, 200
            FROM generate_series(1, 167) n
            """)
        let states = try await race(4) { _ in try await guarding.evaluate() }
        #expect(states.allSatisfy { $0.isTripped && $0.dead == 400 && $0.sent == 1_300 })
        #expect(states.count { $0.isNew } == 1)
        #expect(try await guarding.isTripped())
        try await client.execute("UPDATE push_guard SET tripped_until = now() - interval '1 second'")
        try await client.execute("UPDATE push_outcomes SET dead = 30, sent = 30 WHERE minute > now() - interval '5 minutes'")
        #expect(try await !guarding.evaluate().isTripped, "as usual")
        #expect(try await guarding.deleteOld(limit: 10) == 0)
    }

    @Test(.storage) func `a reached installation is no longer suspect, and one that was not suspect is not written`() async throws {
        let (suspect, other) = (try await installs.registerUnbound(.make(1)), try await installs.registerUnbound(.make(2)))
        let dead = DeadInstall(id: suspect.id, generation: suspect.generation, code: "UNREGISTERED")
        try await installs.markDead([dead], isGuardTripped: true)
        #expect(try await installs.markReached([suspect.id, other.id, suspect.id]) == 1)
        #expect(try await installs.find(ids: [suspect.id]).map(\.state) == [.active])
        #expect(try await installs.markReached([suspect.id, other.id]) == 0)
    }

    @Test(.storage) func `a device is unregistered when its last sign-in has ended, unless it is signed in again or claimed`() async throws
    {
        let user = try await client.user()
        for seed in 1...3 { _ = try await client.register(.make(seed), user) }
        for (seed, device) in [(1, 1), (2, 2), (3, 2)] {
            _ = try await tokens.insert(
                NewAccessToken(
                    userID: user, sessionID: UUID(), accessHash: hash(100 + seed), refreshHash: hash(200 + seed),
                    installationKey: hash(device), lifetimes: SignInLifetimes(access: .seconds(1), idle: .seconds(seed == 3 ? 600 : 1))))
        }
        try await client.execute(
            """
            UPDATE access_tokens SET expires_at = now() - interval '1 second', refresh_expires_at = now() - interval '1 second'
            WHERE refresh_hash <> \(hash(203))
            """)
        let gone = try await client.installs([hash(1)]).map(\.id)
        let removed = try await client.withTransaction { transaction in
            let ended = try await AccessTokenRepository(transaction).deleteExpired(limit: 10)
            #expect(ended.count == 2)
            return try await SignInRepository(transaction).unregisterSignedOut(ended)
        }
        #expect(removed == gone)
        let left = try await installs.find(userIDs: [user]).map(\.installationKey)
        #expect(Set(left) == [hash(2), hash(3)])
    }
}
