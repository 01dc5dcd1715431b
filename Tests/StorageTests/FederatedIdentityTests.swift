import Accounts
import FoundationEssentials
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Testing

struct FederatedIdentityTests {
    private static let issuer = "https://securetoken.google.com/heliograph-dev"

    @Test(.storage) func `the first call makes an account, the second finds it`() async throws {
        let identities = FederatedIdentityRepository(client)
        #expect(try await identities.find(issuer: Self.issuer, subjectLookup: hash(1), installationKey: nil) == nil)
        let made = try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(1))
        let found = try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(1))
        #expect(made.isNew && !found.isNew && made.identity == found.identity)
        let user = try await UserRepository(client).find(id: made.identity.userID)
        #expect(user != nil && user?.email == nil)
        let other = try await identities.findOrCreate(issuer: "https://example.org", subjectLookup: hash(1))
        #expect(other.isNew && other.identity.userID != made.identity.userID)
    }

    @Test func `the lookup of a person is that of accounts that exist`() throws {
        let subject = FederatedSubject("ada", of: FederatedSubject.firebaseIssuer(ofProject: "heliograph-dev"))
        let key = [UInt8](repeating: 7, count: 32)
        let hash = HMACSHA256.authenticate(Array("subject:\(Self.issuer):ada".utf8), key: key)
        #expect(try subject.lookups(under: .test(key)) == [[2] + Array("k1".utf8) + hash])
    }

    @Test(.storage) func `concurrent first calls make one account`() async throws {
        let identities = FederatedIdentityRepository(client)
        let made = try await race(24) { _ in try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(2)) }
        #expect(Set(made.map(\.identity.userID)).count == 1 && made.count { $0.isNew } == 1)
        #expect(try await client.query("SELECT count(*) AS n FROM users")[0].decode("n", as: Int.self) == 1)
    }

    @Test(.storage) func `of first calls at instances with different keys, the second gets the account of the first`() async throws {
        let lookups = ["k1", "k2"].map { LookupKeys.lookup(of: hash(2), keyID: $0) }
        @Sendable func make(_ lookups: [[UInt8]], _ db: some PostgresQueryable) async throws -> UUID? {
            try await FederatedIdentityRepository(db).findOrCreate(
                issuer: Self.issuer, subjectLookups: lookups, newID: UUID(), subjectSealed: [1], signedInAt: Date())?.identity.userID
        }
        let (first, second) = try await client.withTransaction { transaction in
            let first = try await make([lookups[0]], transaction)
            let second = Task { try await make(lookups, client) }
            try await eventually("the second call waits for the first") {
                try await client.query(
                    """
                    SELECT 1 AS one FROM pg_locks l JOIN pg_stat_activity a USING (pid)
                    WHERE l.locktype = 'transactionid' AND NOT l.granted AND a.datname = current_database()
                    """
                ).first
            }
            return (first, second)
        }
        let found = try await second.value
        #expect(first != nil && found == first)
        #expect(try await client.query("SELECT FROM users").count == 1)
        #expect(try await client.query("SELECT FROM identities").count == 1)
    }

    @Test(.storage) func `an installation counts if it is registered to the account`() async throws {
        let identities = FederatedIdentityRepository(client)
        let user = try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(3)).identity.userID
        func hasInstallation(_ key: [UInt8]?) async throws -> Bool? {
            try await identities.find(issuer: Self.issuer, subjectLookup: hash(3), installationKey: key)?.hasInstallation
        }
        #expect(try await hasInstallation(hash(9)) == false)
        #expect(try await hasInstallation(nil) == false)
        let registration = PushRegistration(installationKey: hash(9), kind: .token, valueSealed: [1], valueHash: hash(10))
        _ = try await client.withTransaction { try await PushInstallRepository($0).register(registration, userID: user) }
        #expect(try await hasInstallation(hash(9)) == true)
        #expect(try await hasInstallation(hash(8)) == false)
        let other = try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(4)).identity.userID
        _ = try await client.withTransaction { try await PushInstallRepository($0).register(registration, userID: other) }
        #expect(try await hasInstallation(hash(9)) == false)
    }

    @Test(.storage) func `a revocation refuses sign-ins before it, and is not held off by a later look`() async throws {
        let identities = FederatedIdentityRepository(client)
        let user = try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(5)).identity.userID
        let before: Date = try await client.query("SELECT now() AS now")[0].decode("now")
        #expect(try await client.withTransaction { try await FederatedIdentityRepository($0).hold(signInsOf: user, since: before) })
        #expect(try await identities.revokeAll(userID: user))
        let revoked = try #require(try await identities.find(issuer: Self.issuer, subjectLookup: hash(5), installationKey: nil))
        #expect(!revoked.accepts(signInAt: before) && revoked.accepts(signInAt: before.addingTimeInterval(60)))
        let isHeld = try await client.withTransaction { try await FederatedIdentityRepository($0).hold(signInsOf: user, since: before) }
        #expect(!isHeld)
        #expect(try await client.withTransaction { try await FederatedIdentityRepository($0).hold(signInsOf: UUID(), since: before) })
    }

    @Test(.storage) func `ending the sign-ins of an account ends those with providers, all or those before a time`() async throws {
        let identities = FederatedIdentityRepository(client)
        let user = try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(7)).identity.userID
        let time = Date(timeIntervalSince1970: 1_764_028_800)
        for (limit, isKept) in [(time, true), (nil, false), (time, false)] {
            _ = try await client.withTransaction { try await SignInRepository($0).endAll(of: user, providersBefore: limit) }
            let person = try await identities.find(issuer: Self.issuer, subjectLookup: hash(7), installationKey: nil)
            #expect(person?.accepts(signInAt: time) == isKept && person?.accepts(signInAt: time.addingTimeInterval(-1)) == false)
        }
    }

    @Test(.storage) func `a person is found by the lookup of either key, and has one account`() async throws {
        let identities = FederatedIdentityRepository(client)
        let lookups = ["k1", "k2"].map { LookupKeys.lookup(of: hash(1), keyID: $0) }
        func make(_ lookups: [[UInt8]]) async throws -> UUID? {
            try await identities.findOrCreate(
                issuer: Self.issuer, subjectLookups: lookups, newID: UUID(), subjectSealed: [1], signedInAt: Date())?.identity.userID
        }
        let user = try #require(try await make([lookups[0]]))
        #expect(try await make(lookups) == user)
        #expect(try await make(lookups.reversed()) == user)
        let both = ["k1", "k2"].map { LookupKeys.lookup(of: hash(2), keyID: $0) }
        let other = try #require(try await make(both))
        #expect(try await make([both[0]]) == other)
        #expect(try await make([both[1]]) == other)
        #expect(try await identities.revokeAll(userID: other))
        #expect(try await UserRepository(client).summary(id: other)?.identityProviders == [Self.issuer])
    }
}
