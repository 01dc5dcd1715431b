import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing

struct AccessTokenRepositoryTests {
    private func token(_ seed: Int, of user: UUID, family: UUID = UUID(), lifetime: Duration = .seconds(60))
        -> NewAccessToken
    {
        NewAccessToken(
            userID: user, sessionID: UUID(), familyID: family, accessHash: hash(seed), refreshHash: hash(seed + 1000),
            installationKey: hash(7), lifetime: lifetime, refreshLifetime: .seconds(3600))
    }

    @discardableResult
    private func rotate(_ seed: Int, to next: Int, _ client: PostgresClient) async throws -> RefreshResult {
        try await client.withTransaction { transaction in
            try await AccessTokenRepository(transaction).rotate(
                refreshHash: hash(seed + 1000), newAccessHash: hash(next), newRefreshHash: hash(next + 1000),
                lifetime: .seconds(60), refreshLifetime: .seconds(3600))
        }
    }

    private func logOut(_ seed: Int, _ client: PostgresClient) async throws -> AccessToken? {
        try await client.withTransaction { transaction in
            try await AccessTokenRepository(transaction).revoke(accessHash: hash(seed))
        }
    }

    @Test func `find returns a valid token, but not an unknown or expired one`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make()
            let tokens = AccessTokenRepository(client)
            let inserted = try await tokens.insert(token(1, of: user.id))
            try await tokens.insert(token(2, of: user.id, lifetime: .seconds(-1)))
            #expect(try await tokens.find(accessHash: hash(1)) == inserted)
            #expect(inserted.userID == user.id)
            #expect(inserted.installationKey == hash(7))
            #expect(try await tokens.find(accessHash: hash(2)) == nil)
            #expect(try await tokens.find(accessHash: hash(3)) == nil)
            #expect(try await tokens.find(accessHash: hash(1001)) == nil, "a refresh token is not an access token")
        }
    }

    @Test func `revoking a token revokes its family once, and no other family`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make()
            let tokens = AccessTokenRepository(client)
            let family = UUID()
            try await tokens.insert(token(1, of: user.id, family: family))
            try await tokens.insert(token(2, of: user.id, family: family))
            try await tokens.insert(token(3, of: user.id))
            let revoked = try await race(8) { _ in try await logOut(1, client) }
            #expect(revoked.compactMap { $0 }.count == 1)
            #expect(try await tokens.find(accessHash: hash(1)) == nil)
            #expect(try await tokens.find(accessHash: hash(2)) == nil)
            #expect(try await tokens.find(accessHash: hash(3)) != nil)
            #expect(try await tokens.revokeAll(userID: user.id) == 1)
            #expect(try await tokens.find(accessHash: hash(3)) == nil)
        }
    }

    @Test func `a held sign-in cannot be revoked before the transaction ends, and a revoked one cannot be held`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            let pair = try await AccessTokenRepository(client).insert(token(1, of: user.id))
            func hold(as userID: UUID) async throws -> Bool {
                try await client.withTransaction { transaction in
                    try await AccessTokenRepository(transaction).hold(signIn: pair.familyID, of: userID)
                }
            }
            #expect(try await !hold(as: UUID()), "another user's")
            let logout = try await client.withTransaction { transaction in
                #expect(try await AccessTokenRepository(transaction).hold(signIn: pair.familyID, of: user.id))
                let logout = Task { try await logOut(1, client) }
                try await eventually("the logout waits") {
                    try await client.query(
                        """
                        SELECT 1 AS one FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                        """
                    ).first
                }
                #expect(try await AccessTokenRepository(client).find(accessHash: hash(1)) == pair)
                return logout
            }
            #expect(try await logout.value != nil)
            #expect(try await !hold(as: user.id))
        }
    }

    @Test func `a repeated refresh gets the pair of the first one, even concurrently`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            try await AccessTokenRepository(client).insert(token(1, of: user.id))
            let results = try await race(6) { _ in try await rotate(1, to: 2, client) }
            let pair = try #require(try await AccessTokenRepository(client).find(accessHash: hash(2)))
            #expect(results.count { $0 == .rotated(pair) } == 1)
            #expect(results.count { $0 == .repeated(pair) } == 5)
            #expect(try await AccessTokenRepository(client).find(accessHash: hash(1)) == nil)
        }
    }

    @Test func `reusing a refresh token too late, or after its successor was used, revokes the family`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            let tokens = AccessTokenRepository(client)
            let late = try await tokens.insert(token(1, of: user.id))
            try await rotate(1, to: 2, client)
            try await client.execute("UPDATE access_tokens SET revoked_at = revoked_at - interval '31 seconds'")
            #expect(try await rotate(1, to: 2, client) == .reused(late))
            #expect(try await tokens.find(accessHash: hash(2)) == nil)
            #expect(try await rotate(1, to: 2, client) == .reused(nil))

            let stolen = try await tokens.insert(token(3, of: user.id))
            try await rotate(3, to: 4, client)
            try await rotate(4, to: 5, client)
            #expect(try await rotate(3, to: 4, client) == .reused(stolen))
            #expect(try await tokens.find(accessHash: hash(5)) == nil)
        }
    }

    @Test func `a refresh token whose successor was revoked by a logout gets nothing`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            try await AccessTokenRepository(client).insert(token(1, of: user.id))
            try await rotate(1, to: 2, client)
            #expect(try await logOut(2, client) != nil)
            #expect(try await rotate(1, to: 2, client) == .reused(nil))
        }
    }

    @Test func `a rotated pair keeps family, user, session and device, and replaces the old one`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make()
            let tokens = AccessTokenRepository(client)
            let old = try await tokens.insert(token(1, of: user.id))
            let result = try await client.withTransaction { transaction in
                try await AccessTokenRepository(transaction).rotate(
                    refreshHash: hash(1001), newAccessHash: hash(2), newRefreshHash: hash(1002),
                    lifetime: .seconds(60), refreshLifetime: .seconds(3600))
            }
            guard case .rotated(let new) = result else {
                Issue.record("not rotated: \(result)")
                return
            }
            #expect(new.familyID == old.familyID && new.userID == old.userID && new.sessionID == old.sessionID)
            #expect(new.installationKey == old.installationKey)
            #expect(try await tokens.find(accessHash: hash(1)) == nil)
            #expect(try await tokens.find(accessHash: hash(2)) == new)
        }
    }

    @Test func `a logout with a rotated token revokes the family once`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            let tokens = AccessTokenRepository(client)
            let old = try await tokens.insert(token(1, of: user.id))
            try await rotate(1, to: 2, client)
            let revoked = try await logOut(1, client)
            #expect(revoked?.id == old.id && revoked?.userID == user.id && revoked?.installationKey == hash(7))
            #expect(try await tokens.find(accessHash: hash(2)) == nil)
            let again = try await logOut(1, client)
            #expect(again == nil)
        }
    }

    @Test func `a logout concurrent with a rotation leaves no valid pair`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            for round in 0..<20 {
                try await AccessTokenRepository(client).insert(token(2 * round, of: user.id))
                let loggedOut = try await race(2) { index in
                    if index == 0 {
                        try await rotate(2 * round, to: 2 * round + 1, client)
                        return false
                    }
                    return try await logOut(2 * round, client) != nil
                }
                #expect(loggedOut.contains(true), "there is a pair to revoke in either order")
                #expect(try await AccessTokenRepository(client).revokeAll(userID: user.id) == 0)
            }
        }
    }

    @Test func `a sign-in supersedes the user's earlier ones on the device, even during their refresh`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            for round in 0..<20 {
                try await AccessTokenRepository(client).insert(token(3 * round, of: user.id))
                _ = try await race(2) { index in
                    if index == 0 {
                        try await rotate(3 * round, to: 3 * round + 1, client)
                    } else {
                        try await signIn(3 * round + 2, user.id, client)
                    }
                }
                #expect(try await alive(client) == 1)
            }
        }
    }

    @Test func `one of several concurrent sign-ins on a device remains`() async throws {
        try await withStorage { client async throws in
            let user = try await UserRepository(client).make()
            _ = try await race(8) { try await signIn($0, user.id, client) }
            #expect(try await alive(client) == 1)
        }
    }

    private func signIn(_ seed: Int, _ user: UUID, _ client: PostgresClient) async throws {
        try await client.withTransaction { transaction in
            let tokens = AccessTokenRepository(transaction)
            try await tokens.supersede(userID: user, installationKey: hash(7))
            try await tokens.insert(token(seed, of: user))
        }
    }

    private func alive(_ client: PostgresClient) async throws -> Int {
        try await client.query("SELECT count(*) AS n FROM access_tokens WHERE revoked_at IS NULL")[0].decode("n")
    }

    @Test func `a token without a user is refused, and tokens are deleted with their user`() async throws {
        try await withStorage { client in
            let tokens = AccessTokenRepository(client)
            let error = await #expect(throws: PostgresError.self) {
                try await tokens.insert(token(1, of: UUID()))
            }
            #expect(error?.isForeignKeyViolation == true)
            let user = try await UserRepository(client).make()
            try await tokens.insert(token(1, of: user.id))
            try await client.execute("DELETE FROM users WHERE id = \(user.id)")
            #expect(try await tokens.find(accessHash: hash(1)) == nil)
        }
    }

    @Test func `pairs are deleted when their refresh token has expired`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make()
            let tokens = AccessTokenRepository(client)
            var old = token(1, of: user.id, lifetime: .seconds(-2))
            old.refreshLifetime = .seconds(-1)
            try await tokens.insert(old)
            try await tokens.insert(token(2, of: user.id, lifetime: .seconds(-1)))
            #expect(try await tokens.deleteExpired(limit: 10).count == 1)
            #expect(try await tokens.deleteExpired(limit: 10).isEmpty)
        }
    }
}
