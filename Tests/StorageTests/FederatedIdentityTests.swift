import FoundationEssentials
import PostgresClient
import Storage
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

    @Test(.storage) func `concurrent first calls make one account`() async throws {
        let identities = FederatedIdentityRepository(client)
        let made = try await race(24) { _ in try await identities.findOrCreate(issuer: Self.issuer, subjectLookup: hash(2)) }
        #expect(Set(made.map(\.identity.userID)).count == 1 && made.count { $0.isNew } == 1)
        #expect(try await client.query("SELECT count(*) AS n FROM users")[0].decode("n", as: Int.self) == 1)
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
        #expect(try await identities.revokeAll(userID: user) == 1)
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

    @Test(.storage) func `an account has both columns of its e-mail, or none`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await client.execute("INSERT INTO users (email_lookup) VALUES (\(hash(6)))")
        }
        #expect(error?.sqlState == "23514")
    }
}
