import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// A device is known by its key, and without one by its installation.
@Suite struct KnownDeviceTests {
    private let key = hash(1)
    private let otherKey = hash(2)
    private let installation = hash(3)

    private func signIn(_ user: UUID, key: [UInt8]?, seed: Int) async throws -> AccessToken {
        try await AccessTokenRepository(client).insert(
            NewAccessToken(
                userID: user, sessionID: UUID(), accessHash: hash(seed), refreshHash: hash(seed + 1_000), installationKey: installation,
                deviceKey: key.map { DeviceKey(thumbprint: $0, storage: .hardware) }, lifetimes: SignInLifetimes()))
    }

    private func isKnown(_ key: [UInt8]?, _ installation: [UInt8]?, to user: UUID) async throws -> Bool {
        try await AccessTokenRepository(client).knownDevice(deviceKey: key, installationKey: installation, to: user) != nil
    }

    @Test(.storage) func `a key is known to its account, with any installation`() async throws {
        let (user, other) = (try await client.user(), try await client.user(2))
        _ = try await signIn(user, key: key, seed: 10)
        #expect(try await isKnown(key, installation, to: user))
        #expect(try await isKnown(key, nil, to: user))
        #expect(try await !isKnown(otherKey, installation, to: user))
        #expect(try await !isKnown(key, installation, to: other))
        #expect(try await !isKnown(nil, nil, to: user))
    }

    @Test(.storage) func `an installation that has had a key is known by the key only`() async throws {
        let user = try await client.user()
        _ = try await signIn(user, key: nil, seed: 10)
        #expect(try await isKnown(nil, installation, to: user))
        #expect(try await isKnown(key, installation, to: user), "the first proof comes from a known device")
        _ = try await signIn(user, key: key, seed: 11)
        #expect(try await !isKnown(nil, installation, to: user))
        #expect(try await !isKnown(otherKey, installation, to: user))
    }

    @Test(.storage) func `a key stays known after a logout for 30 days`() async throws {
        let user = try await client.user()
        _ = try await signIn(user, key: key, seed: 10)
        _ = try await client.withTransaction { try await AccessTokenRepository($0).revoke(accessHash: hash(10)) }
        #expect(try await isKnown(key, nil, to: user))
        try await client.execute("UPDATE access_tokens SET signed_out_at = now() - interval '30 days 1 second'")
        #expect(try await !isKnown(key, nil, to: user))
    }

    @Test(.storage) func `the end of all sign-ins makes all devices new, also those that had signed out`() async throws {
        let user = try await client.user()
        _ = try await signIn(user, key: key, seed: 10)
        _ = try await client.withTransaction { try await AccessTokenRepository($0).revoke(accessHash: hash(10)) }
        _ = try await signIn(user, key: otherKey, seed: 11)
        let plain = NewAccessToken(
            userID: user, sessionID: UUID(), accessHash: hash(12), refreshHash: hash(1_012), installationKey: hash(4),
            lifetimes: SignInLifetimes())
        _ = try await AccessTokenRepository(client).insert(plain)
        #expect(try await isKnown(nil, hash(4), to: user))
        _ = try await client.endAll(of: user)
        for (key, installation) in [(key, nil), (otherKey, nil), (nil, hash(4))] as [([UInt8]?, [UInt8]?)] {
            #expect(try await !isKnown(key, installation, to: user))
        }
    }

    @Test(.storage) func `a device whose sign-in is ended from elsewhere is new, also if it had signed out before`() async throws {
        let user = try await client.user()
        _ = try await signIn(user, key: key, seed: 10)
        _ = try await client.withTransaction { try await AccessTokenRepository($0).revoke(accessHash: hash(10)) }
        let second = try await signIn(user, key: key, seed: 11)
        _ = try await client.withTransaction { try await SignInRepository($0).end(second.familyID, of: user) }
        #expect(try await !isKnown(key, nil, to: user))
    }

    @Test(.storage) func `an installation that a sign-in was moved to is not known by that`() async throws {
        let user = try await client.user()
        let pair = try await signIn(user, key: nil, seed: 10)
        _ = try await client.withTransaction {
            try await AccessTokenRepository($0).bindInstallation(familyID: pair.familyID, of: user, to: hash(4))
        }
        #expect(try await !isKnown(nil, hash(4), to: user))
        let rotated = try await client.withTransaction {
            try await AccessTokenRepository($0).rotate(
                refreshHash: hash(1_010), newAccessHash: hash(11), newRefreshHash: hash(1_011), lifetimes: SignInLifetimes())
        }
        guard case .rotated = rotated else { return #expect(Bool(false), "\(rotated)") }
        #expect(try await !isKnown(nil, hash(4), to: user), "nor by a refresh")
    }

    @Test(.storage) func `keys that are made at will share the budget of the installation that they name`() async throws {
        let (user, attempt) = (try await client.user(), UUID())
        _ = try await signIn(user, key: nil, seed: 10)
        for number in 0..<SessionRepository.maxFailedSignIns {
            let session = NewSession(
                userID: user, event: .signIn, attemptKey: attempt, tokenHash: hash(20 + number), deviceKey: hash(50 + number),
                installationKey: installation)
            let id = try await SessionRepository(client).insert(session).id
            _ = try await client.withTransaction { try await SessionRepository($0).complete(id: id, outcome: .failed(.noMatch)) }
        }
        let attempts = try await client.withTransaction {
            try await SessionRepository($0).lockSignInAttempts(
                attemptKeys: [attempt], userID: user, deviceKey: hash(60), installationKey: installation)
        }
        #expect(attempts.isKnown && attempts.failedAt.count == SessionRepository.maxFailedSignIns)
    }

    @Test(.storage) func `failures with a known installation's id do not count against the device's key`() async throws {
        let (user, attempt) = (try await client.user(), UUID())
        _ = try await signIn(user, key: key, seed: 10)
        let sessions = SessionRepository(client)
        for number in 0..<SessionRepository.maxFailedSignIns {
            let stranger = NewSession(
                userID: user, event: .signIn, attemptKey: attempt, tokenHash: hash(20 + number), installationKey: installation)
            let id = try await sessions.insert(stranger).id
            _ = try await client.withTransaction { try await SessionRepository($0).complete(id: id, outcome: .failed(.noMatch)) }
        }
        func attempts(_ key: [UInt8]?) async throws -> SignInAttempts {
            try await client.withTransaction {
                try await SessionRepository($0).lockSignInAttempts(
                    attemptKeys: [attempt], userID: user, deviceKey: key, installationKey: installation)
            }
        }
        let (own, strange) = (try await attempts(key), try await attempts(nil))
        #expect(own.isKnown && own.failedAt.isEmpty)
        #expect(!strange.isKnown && strange.failedAt.count == SessionRepository.maxFailedSignIns)
    }
}
