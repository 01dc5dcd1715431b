import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

struct AccessTokenRepositoryTests {
    private func token(_ seed: Int, of user: UUID, family: UUID = UUID(), lifetime: Duration = .seconds(60))
        -> NewAccessToken
    {
        NewAccessToken(
            userID: user, sessionID: UUID(), familyID: family, accessHash: hash(seed), refreshHash: hash(seed + 1000),
            installationKey: hash(7), lifetimes: SignInLifetimes(access: lifetime, idle: .seconds(3600)))
    }

    @discardableResult
    private func rotate(_ seed: Int, to next: Int) async throws -> RefreshResult {
        try await client.withTransaction { transaction in
            try await AccessTokenRepository(transaction).rotate(
                refreshHash: hash(seed + 1000), newAccessHash: hash(next), newRefreshHash: hash(next + 1000),
                lifetimes: SignInLifetimes(access: .seconds(60), idle: .seconds(3600)))
        }
    }

    private func logOut(_ seed: Int) async throws -> AccessToken? {
        try await client.withTransaction { transaction in
            try await AccessTokenRepository(transaction).revoke(accessHash: hash(seed))
        }
    }

    @Test(.storage) func `find returns a valid token, but not an unknown or expired one`() async throws {
        let user = try await client.user()
        let inserted = try await tokens.insert(token(1, of: user))
        try await tokens.insert(token(2, of: user, lifetime: .seconds(-1)))
        #expect(try await tokens.find(accessHash: hash(1)) == inserted)
        #expect(inserted.userID == user)
        #expect(inserted.installationKey == hash(7))
        #expect(try await tokens.find(accessHash: hash(2)) == nil)
        #expect(try await tokens.find(accessHash: hash(3)) == nil)
        #expect(try await tokens.find(accessHash: hash(1001)) == nil, "a refresh token is not an access token")
    }

    @Test(.storage) func `revoking a token revokes its family once, and no other family`() async throws {
        let user = try await client.user()
        let family = UUID()
        try await tokens.insert(token(1, of: user, family: family))
        try await tokens.insert(token(2, of: user, family: family))
        try await tokens.insert(token(3, of: user))
        let revoked = try await race(8) { _ in try await logOut(1) }
        #expect(revoked.compactMap { $0 }.count == 1)
        #expect(try await tokens.find(accessHash: hash(1)) == nil)
        #expect(try await tokens.find(accessHash: hash(2)) == nil)
        #expect(try await tokens.find(accessHash: hash(3)) != nil)
        #expect(try await client.endAll(of: user).ids.count == 1)
        #expect(try await tokens.find(accessHash: hash(3)) == nil)
    }

    @Test(.storage) func `a held sign-in cannot be revoked before the transaction ends, and a revoked one cannot be held`() async throws {
        let user = try await client.user()
        let pair = try await tokens.insert(token(1, of: user))
        func hold(as userID: UUID) async throws -> Bool {
            try await client.withTransaction { transaction in
                try await AccessTokenRepository(transaction).hold(signIn: pair.familyID, of: userID)
            }
        }
        #expect(try await !hold(as: UUID()), "another user's")
        let logout = try await client.withTransaction { transaction in
            #expect(try await AccessTokenRepository(transaction).hold(signIn: pair.familyID, of: user))
            let logout = Task { try await logOut(1) }
            try await eventually("the logout waits") {
                try await client.query(
                    """
                    SELECT 1 AS one FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """
                ).first
            }
            #expect(try await tokens.find(accessHash: hash(1)) == pair)
            return logout
        }
        #expect(try await logout.value != nil)
        #expect(try await !hold(as: user))
    }

    @Test(.storage) func `a repeated refresh gets the pair of the first one, even concurrently, which keeps family, session and device`()
        async throws
    {
        let user = try await client.user()
        let old = try await tokens.insert(token(1, of: user))
        let results = try await race(6) { _ in try await rotate(1, to: 2) }
        let pair = try #require(try await tokens.find(accessHash: hash(2)))
        #expect(results.count { $0 == .rotated(pair) } == 1)
        #expect(results.count { $0 == .repeated(pair, refreshHash: hash(1002)) } == 5)
        #expect(pair.familyID == old.familyID)
        #expect(pair.userID == old.userID)
        #expect(pair.sessionID == old.sessionID)
        #expect(pair.installationKey == old.installationKey)
        #expect(try await tokens.find(accessHash: hash(1)) == nil)
    }

    @Test(.storage) func `a refresh token whose successor was revoked by a logout gets nothing`() async throws {
        let user = try await client.user()
        try await tokens.insert(token(1, of: user))
        try await rotate(1, to: 2)
        #expect(try await logOut(2) != nil)
        #expect(try await rotate(1, to: 2) == .reused(nil))
    }

    @Test(.storage) func `a logout concurrent with a rotation leaves no valid pair`() async throws {
        let user = try await client.user()
        for round in 0..<20 {
            try await tokens.insert(token(2 * round, of: user))
            let loggedOut = try await race(2) { index in
                if index == 0 {
                    try await rotate(2 * round, to: 2 * round + 1)
                    return false
                }
                return try await logOut(2 * round) != nil
            }
            #expect(loggedOut.contains(true), "there is a pair to revoke in either order")
            #expect(try await client.endAll(of: user).ids.isEmpty)
        }
    }

    @Test(.storage) func `a sign-in supersedes the user's earlier ones on the device, even during their refresh`() async throws {
        let user = try await client.user()
        for round in 0..<20 {
            try await tokens.insert(token(3 * round, of: user))
            _ = try await race(2) { index in
                if index == 0 {
                    try await rotate(3 * round, to: 3 * round + 1)
                } else {
                    try await signIn(3 * round + 2, user)
                }
            }
            #expect(try await alive() == 1)
        }
    }

    @Test(.storage) func `one of several concurrent sign-ins on a device remains`() async throws {
        let user = try await client.user()
        _ = try await race(8) { try await signIn($0, user) }
        #expect(try await alive() == 1)
    }

    private func signIn(_ seed: Int, _ user: UUID) async throws {
        try await client.withTransaction { transaction in
            let tokens = AccessTokenRepository(transaction)
            try await tokens.supersede(userID: user, installationKey: hash(7))
            try await tokens.insert(token(seed, of: user))
        }
    }

    private func alive() async throws -> Int {
        try await client.query("SELECT count(*) AS n FROM access_tokens WHERE revoked_at IS NULL")[0].decode("n")
    }

    @Test(.storage) func `a token without a user is refused, and tokens are deleted with their user`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await tokens.insert(token(1, of: UUID()))
        }
        #expect(error?.isForeignKeyViolation == true)
        let user = try await client.user()
        try await tokens.insert(token(1, of: user))
        try await client.execute("DELETE FROM users WHERE id = \(user)")
        #expect(try await tokens.find(accessHash: hash(1)) == nil)
    }

    @Test(.storage) func `pairs are deleted when their refresh token has expired`() async throws {
        let user = try await client.user()
        var old = token(1, of: user, lifetime: .seconds(-2))
        old.lifetimes.idle = .seconds(-1)
        try await tokens.insert(old)
        try await tokens.insert(token(2, of: user, lifetime: .seconds(-1)))
        #expect(try await tokens.deleteExpired(limit: 10).count == 1)
        #expect(try await tokens.deleteExpired(limit: 10).isEmpty)
    }
}
