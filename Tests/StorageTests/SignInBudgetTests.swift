import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct SignInBudgetTests {
    @Test(.storage) func `concurrently starting sign-ins each count those before them`() async throws {
        let user = UUID()
        let counted = try await race(8) { _ in
            try await client.withTransaction { transaction in
                let sessions = SessionRepository(transaction)
                let attempts = try await sessions.lockSignInAttempts(attemptKeys: [user], userID: user, installationKey: hash(99))
                try await sessions.insert(.make(.signIn, user: user))
                return attempts.undecided
            }
        }
        #expect(counted.sorted() == Array(0..<8))
    }

    @Test(.storage) func `attempts count since the last success, without overdue ones`() async throws {
        let user = UUID()
        func decide(_ outcome: SessionOutcome) async throws {
            let id = try await sessions.insert(.make(.signIn, user: user)).id
            _ = try await sessions.complete(id: id, outcome: outcome)
        }
        func attempts() async throws -> SignInAttempts {
            try await client.withTransaction { transaction in
                try await SessionRepository(transaction).lockSignInAttempts(attemptKeys: [user], userID: user, installationKey: hash(99))
            }
        }
        try await decide(.failed(.noMatch))
        try await decide(.failed(.timeout))
        try await sessions.insert(.make(.signIn, user: user))
        try await sessions.insert(.make(.signIn, user: user, processingTime: .seconds(-1)))
        try await sessions.insert(.make(.signUp, user: user))
        let before = try await attempts()
        #expect(before.failedAt.count == 1 && before.undecided == 1)
        try await decide(.succeeded)
        try await decide(.failed(.noFace))
        try await decide(.failed(.livenessFailed))
        let after = try await attempts()
        #expect(after.failedAt.count == 1 && after.undecided == 1)
    }

    @Test(.storage) func `sign-ins with an e-mail count together under two lookup keys`() async throws {
        let (user, old, new) = (UUID(), UUID(), UUID())
        func fail(_ key: UUID, _ others: [UUID]) async throws -> Int? {
            let session = NewSession(
                userID: user, event: .signIn, attemptKey: key, otherAttemptKeys: others, tokenHash: hash(1), installationKey: hash(99))
            let id = try await sessions.insert(session).id
            _ = try await sessions.complete(id: id, outcome: .failed(.noMatch))
            return try await sessions.find(id: id)?.attemptsLeft
        }
        #expect(try await fail(old, []) == 4)
        #expect(try await fail(new, [old]) == 3)
        #expect(try await fail(old, [new]) == 2)
        #expect(try await fail(new, [old]) == 1)
        let attempts = try await client.withTransaction { transaction in
            try await SessionRepository(transaction).lockSignInAttempts(attemptKeys: [new, old], userID: user, installationKey: hash(99))
        }
        #expect(attempts.failedAt.count == 4)
    }

    /// The attempts that count against the next sign-in of a device.
    private func attempts(_ user: UUID, device: Int) async throws -> SignInAttempts {
        try await client.withTransaction { transaction in
            try await SessionRepository(transaction).lockSignInAttempts(attemptKeys: [user], userID: user, installationKey: hash(device))
        }
    }

    /// Makes a device known to a user, like a redeemed sign-in.
    private func signIn(_ user: UUID, device: Int, age: String = "0 days") async throws {
        let seed = device * 100
        let pair = try await tokens.insert(
            NewAccessToken(
                userID: user, sessionID: UUID(), accessHash: hash(seed), refreshHash: hash(seed + 1),
                installationKey: hash(device), lifetimes: SignInLifetimes(access: .seconds(60), idle: .seconds(3600))))
        try await client.execute(
            "UPDATE access_tokens SET created_at = now() - (\(age)::text)::interval, revoked_at = now() WHERE id = \(pair.id)")
    }

    @Test(.storage) func `a known device has a budget of its own, and all others share one`() async throws {
        let user = try await client.user()
        try await signIn(user, device: 1)
        try await signIn(user, device: 2)
        for (stranger, left) in [(10, 4), (11, 3), (12, 2), (13, 1)] {
            #expect(try await client.fail(.noMatch, user: user, device: stranger).attemptsLeft == left)
        }
        #expect(try await client.fail(.noMatch, user: user, device: 1).attemptsLeft == 4)
        try await sessions.insert(.make(.signIn, user: user, device: 15))
        try await sessions.insert(.make(.signIn, user: user, device: 1))
        let (known, other) = (try await attempts(user, device: 1), try await attempts(user, device: 2))
        #expect(known.failedAt.count == 1 && known.undecided == 1)
        #expect(other.failedAt.isEmpty && other.undecided == 0)
        let stranger = try await attempts(user, device: 99)
        #expect(stranger.failedAt.count == 4 && stranger.undecided == 1)
    }

    @Test(.storage) func `sign-ins with a proof of the e-mail have a budget of their own`() async throws {
        let user = try await client.user()
        func fail(proof: UUID?) async throws -> Int? {
            var session = NewSession.make(.signIn, user: user, device: 7)
            session.verificationID = proof
            let id = try await sessions.insert(session).id
            _ = try await sessions.complete(id: id, outcome: .failed(.noMatch))
            return try await sessions.find(id: id)?.attemptsLeft
        }
        var left: [Int?] = []
        for proof in [nil, nil, nil, nil, nil, UUID(), UUID()] { left.append(try await fail(proof: proof)) }
        #expect(left == [4, 3, 2, 1, 0, 4, 3])
        for (isProven, count) in [(false, 5), (true, 2)] {
            let attempts = try await client.withTransaction { transaction in
                try await SessionRepository(transaction).lockSignInAttempts(
                    attemptKeys: [user], userID: user, installationKey: hash(8), isProven: isProven)
            }
            #expect(attempts.failedAt.count == count)
        }
    }

    @Test(.storage) func `the total counts comparisons, and so many of a site that it measures how many places they come from`()
        async throws
    {
        var limits = FailedSignInLimits()
        limits.total = FailedSignInLimits.perSiteInTotal + 1
        func fail(_ count: Int, _ reason: SessionReason, site: Int) async throws {
            for number in 0..<count {
                var session = NewSession.make(.signIn, user: UUID(), device: 1_000 + number)
                session.origin = RequestOrigin(addressKey: hash(100 + number % 7), siteKey: hash(site))
                let id = try await sessions.insert(session).id
                _ = try await sessions.complete(id: id, outcome: .failed(reason))
            }
        }
        func load() async throws -> FailedSignInLoad {
            try await sessions.failedSignIns(
                from: RequestOrigin(addressKey: hash(100), siteKey: hash(1)), installationKey: nil, limits: limits)
        }
        try await fail(30, .noMatch, site: 1)
        try await fail(30, .lowQuality, site: 2)
        #expect(try await load().totalUntil == nil)
        try await fail(1, .livenessFailed, site: 3)
        let reached = try await load()
        #expect(reached.totalUntil != nil && reached.challengedTotalUntil == nil)
        for site in 4...6 { try await fail(FailedSignInLimits.perSiteInTotal, .noMatch, site: site) }
        #expect(try await load().challengedTotalUntil != nil)
        #expect(try await load().addressUntil == nil)
        limits.perAddress = 7
        #expect(try await load().addressUntil != nil, "28 of its site, 5 or less its own")
    }

    @Test(.storage) func `an installation is known for 30 days after its sign-in, to that account only`() async throws {
        let (user, other) = (try await client.user(), try await client.user(2))
        try await signIn(user, device: 1, age: "29 days")
        try await signIn(user, device: 2, age: "30 days 1 second")
        #expect(try await tokens.knownDevice(deviceKey: nil, installationKey: hash(1), to: user) == .installation)
        #expect(try await tokens.knownDevice(deviceKey: nil, installationKey: hash(2), to: user) == nil)
        #expect(try await tokens.knownDevice(deviceKey: nil, installationKey: hash(1), to: other) == nil)
        #expect(try await tokens.knownDevice(deviceKey: nil, installationKey: hash(3), to: user) == nil)
    }
}
