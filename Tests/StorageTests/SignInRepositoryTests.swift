import Accounts
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

extension PostgresClient {
    /// Ends all sign-ins of a user, or all but one.
    func endAll(of user: UUID, except kept: UUID? = nil) async throws -> EndedSignIns {
        try await withTransaction { try await SignInRepository($0).endAll(of: user, except: kept) }
    }
}

struct SignInRepositoryTests {
    private var signIns: SignInRepository { SignInRepository(client) }

    /// Signs a user in on a device, and registers it.
    @discardableResult
    private func signIn(_ device: Int, _ user: UUID, at date: Date? = nil, lifetimes: SignInLifetimes = SignInLifetimes()) async throws
        -> AccessToken
    {
        _ = try await client.register(.make(device), user)
        return try await tokens.insert(
            NewAccessToken(
                userID: user, sessionID: UUID(), accessHash: hash(100 + device), refreshHash: hash(200 + device),
                installationKey: hash(device), lifetimes: lifetimes, signedInAt: date))
    }

    private func refresh(_ device: Int, _ lifetimes: SignInLifetimes = SignInLifetimes()) async throws -> RefreshResult {
        try await client.withTransaction { transaction in
            try await AccessTokenRepository(transaction).rotate(
                refreshHash: hash(200 + device), newAccessHash: hash(300 + device), newRefreshHash: hash(400 + device), lifetimes: lifetimes
            )
        }
    }

    private func end(_ id: UUID, _ user: UUID) async throws -> EndedSignIns? {
        try await client.withTransaction { try await SignInRepository($0).end(id, of: user) }
    }

    private func boundDevices(of user: UUID) async throws -> Set<[UInt8]> {
        Set(try await installs.find(userIDs: [user]).map(\.installationKey))
    }

    @Test(.storage) func `the list has each valid sign-in once, the last used first, with what its app has said`() async throws {
        let user = try await client.user()
        let old = try await signIn(1, user, at: Date().addingTimeInterval(-7_200))
        let new = try await signIn(2, user)
        _ = try await refresh(1)
        try await client.execute(
            """
            UPDATE push_installs SET platform = 'ios', app_version = '1.2', locale = 'de-DE' WHERE installation_key = \(hash(1))
            """)
        try await client.execute("UPDATE access_tokens SET created_at = now() + interval '1 minute' WHERE access_hash = \(hash(301))")
        let ended = try await signIn(3, user)
        _ = try await end(ended.familyID, user)
        try await signIn(4, user, lifetimes: SignInLifetimes(access: .seconds(-2), idle: .seconds(-1)))
        try await signIn(5, try await client.user(2))
        let list = try await signIns.list(of: user)
        #expect(list.map(\.id) == [old.familyID, new.familyID])
        #expect(list[0].createdAt == old.signedInAt)
        #expect(list[0].lastUsedAt > old.createdAt)
        #expect([list[0].platform, list[0].appVersion, list[0].locale] == ["ios", "1.2", "de-DE"])
        #expect(list[1].platform == nil)
    }

    @Test(.storage) func `a refresh keeps the time of the sign-in, and no token outlives the sign-in`() async throws {
        let user = try await client.user()
        let begin = Date().addingTimeInterval(-80)
        let lifetimes = SignInLifetimes(access: .seconds(60), idle: .seconds(90), total: .seconds(100))
        let pair = try await signIn(1, user, at: begin, lifetimes: lifetimes)
        #expect(abs(pair.expiresAt.timeIntervalSince(begin) - 100) < 0.01)
        #expect(abs(pair.refreshExpiresAt.timeIntervalSince(begin) - 100) < 0.01)
        guard case .rotated(let next) = try await refresh(1, lifetimes) else { throw Unexpected() }
        #expect(next.signedInAt == pair.signedInAt)
        #expect(next.refreshExpiresAt == pair.refreshExpiresAt)
    }

    @Test(.storage) func `a sign-in that has reached its age is not refreshed, even if its pair was minted under a longer one`()
        async throws
    {
        let user = try await client.user()
        try await signIn(1, user, at: Date().addingTimeInterval(-101))
        #expect(try await refresh(1, SignInLifetimes(total: .seconds(100))) == .unknown)
        guard case .rotated = try await refresh(1, SignInLifetimes(total: .seconds(1_000))) else { throw Unexpected() }
    }

    @Test(.storage) func `ending a sign-in revokes its tokens, unregisters its device and hides it, and leaves all others alone`()
        async throws
    {
        let user = try await client.user()
        let (one, two) = (try await signIn(1, user), try await signIn(2, user))
        let ended = try #require(try await end(one.familyID, user))
        #expect(ended.ids == [one.familyID])
        #expect(ended.removedInstalls.count == 1)
        #expect(try await tokens.find(accessHash: hash(101)) == nil)
        #expect(try await tokens.find(accessHash: hash(102)) == two)
        #expect(try await boundDevices(of: user) == [hash(2)])
        #expect(try await end(one.familyID, user) == EndedSignIns(), "a repetition has nothing to end")
        #expect(try await end(two.familyID, try await client.user(2)) == nil, "another user's")
        #expect(try await end(UUID(), user) == nil)
        #expect(try await tokens.find(accessHash: hash(102)) == two)
    }

    @Test(.storage) func `ending all sign-ins, or all but one, ends exactly those`() async throws {
        let (user, other) = (try await client.user(), try await client.user(2))
        var pairs: [AccessToken] = []
        for device in 1...3 { pairs.append(try await signIn(device, user)) }
        try await signIn(4, other)
        let first = try await client.endAll(of: user, except: pairs[1].familyID)
        #expect(Set(first.ids) == [pairs[0].familyID, pairs[2].familyID])
        #expect(first.removedInstalls.count == 2)
        #expect(try await signIns.list(of: user).map(\.id) == [pairs[1].familyID])
        #expect(try await client.endAll(of: user).ids == [pairs[1].familyID])
        #expect(try await boundDevices(of: user).isEmpty)
        #expect(try await boundDevices(of: other) == [hash(4)])
        #expect(try await client.endAll(of: user) == EndedSignIns())
    }

    @Test(.storage) func `a device that gets a push about its sign-out is unregistered ten minutes later, unless it is signed in again`()
        async throws
    {
        let user = try await client.user()
        for device in 1...3 { try await signIn(device, user) }
        let kept = try #require(try await tokens.find(accessHash: hash(103)))
        let ended = try await client.withTransaction {
            try await SignInRepository($0).endAll(of: user, except: kept.familyID, isNoticed: true)
        }
        #expect(ended.ids.count == 2 && ended.removedInstalls.isEmpty)
        #expect(try await tokens.find(accessHash: hash(101)) == nil)
        func sweep() async throws -> Int {
            try await client.withTransaction { try await SignInRepository($0).unregisterNoticed(limit: 10).signIns }
        }
        #expect(try await sweep() == 0)
        #expect(try await boundDevices(of: user).count == 3)
        _ = try await tokens.insert(
            NewAccessToken(
                userID: user, sessionID: UUID(), accessHash: hash(901), refreshHash: hash(902), installationKey: hash(2),
                lifetimes: SignInLifetimes()))
        try await client.execute("UPDATE access_tokens SET unregister_at = unregister_at - interval '601 seconds'")
        #expect(try await sweep() == 2)
        #expect(try await boundDevices(of: user) == [hash(2), hash(3)])
        #expect(try await sweep() == 0)
    }

    @Test(.storage) func `a device that another user has signed in on since stays registered for that user`() async throws {
        let (user, other) = (try await client.user(), try await client.user(2))
        let pair = try await signIn(1, user)
        _ = try await client.register(.make(1), other)
        #expect(try #require(try await end(pair.familyID, user)).removedInstalls.isEmpty)
        #expect(try await boundDevices(of: other) == [hash(1)])
    }

    @Test(.storage) func `a sign-in that was uploaded before all were ended gives no tokens, a later one does`() async throws {
        let user = try await client.user()
        func succeeded() async throws -> Session {
            let session = try await sessions.insert(NewSession(userID: user, event: .signIn, attemptKey: user, tokenHash: hash(9)))
            #expect(try await sessions.complete(id: session.id, outcome: .succeeded))
            return session
        }
        func redeem(_ session: Session) async throws -> Session? {
            try await client.withTransaction {
                try await SessionRepository($0).redeem(id: session.id, tokenHash: session.tokenHash)
            }
        }
        let before = try await succeeded()
        _ = try await client.endAll(of: user)
        let after = try await succeeded()
        #expect(try await redeem(before) == nil)
        #expect(try await redeem(after) != nil)
    }

    @Test(.storage) func `ending all sign-ins during refreshes and redemptions leaves no valid pair of before, and never deadlocks`()
        async throws
    {
        let user = try await client.user()
        for round in 0..<20 {
            for device in 1...3 { try await signIn(10 * round + device, user) }
            let session = try await sessions.insert(NewSession(userID: user, event: .signIn, attemptKey: user, tokenHash: hash(9)))
            _ = try await sessions.complete(id: session.id, outcome: .succeeded)
            _ = try await race(5) { index in
                switch index {
                case 0...2: _ = try await refresh(10 * round + index + 1)
                case 3:
                    try await client.withTransaction { transaction in
                        guard try await SessionRepository(transaction).redeem(id: session.id, tokenHash: hash(9)) != nil
                        else { return }
                        let tokens = AccessTokenRepository(transaction)
                        try await tokens.supersede(userID: user, installationKey: hash(10 * round + 1))
                        try await tokens.insert(
                            NewAccessToken(
                                userID: user, sessionID: session.id, accessHash: hash(10_000 + round), refreshHash: hash(20_000 + round),
                                installationKey: hash(10 * round + 1), lifetimes: SignInLifetimes()))
                    }
                default: _ = try await client.endAll(of: user)
                }
            }
            #expect(try await signIns.list(of: user).isEmpty)
        }
    }

    private struct Unexpected: Error {}
}
