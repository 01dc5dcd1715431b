public import Accounts
public import FoundationEssentials
public import HeliographCrypto
internal import PostgresClient

/// Lookups of tests, which have any 32 bytes as hash, and the key `k1`.
public enum TestLookup {
    /// Returns the lookup of a hash of 32 bytes; other bytes stay as they are.
    public static func of(_ hash: [UInt8]) -> [UInt8] { hash.count == 32 ? LookupKeys.lookup(of: hash, keyID: "k1") : hash }
}

extension LookupKeys {
    /// A ring of keys, in the order in which they are given.
    public static func test(_ keys: [(id: String, bytes: [UInt8])]) throws -> LookupKeys {
        LookupKeys(try KeyRing(parsing: keys.map { "\($0.id):\(Base64.encode($0.bytes))" }.joined(separator: ",")))
    }

    /// A ring of the key `k1`.
    public static func test(_ key: [UInt8]) throws -> LookupKeys { try test([("k1", key)]) }
}

extension SealedEmail {
    /// An e-mail with one lookup.
    public init(lookup: [UInt8], sealed: [UInt8]) { self.init(lookups: [TestLookup.of(lookup)], sealed: sealed) }

    /// The hash of its only lookup.
    public var hash: [UInt8] { Array(lookups[0].suffix(32)) }
}

extension UserRepository {
    /// Finds the account of an e-mail with one lookup.
    public func find(emailLookup: [UInt8]) async throws -> User? { try await find(emailLookups: [TestLookup.of(emailLookup)]) }
}

extension FederatedIdentityRepository {
    /// Finds a person with one lookup.
    public func find(issuer: String, subjectLookup: [UInt8], installationKey: [UInt8]?) async throws -> FederatedIdentity? {
        try await find(issuer: issuer, subjectLookups: [TestLookup.of(subjectLookup)], installationKey: installationKey)
    }

    /// Creates an account for a person with one lookup, as the other function does.
    public func findOrCreate(
        issuer: String, subjectLookup: [UInt8], signedInAt: Date
    ) async throws -> (identity: FederatedIdentity, isNew: Bool)? {
        try await findOrCreate(
            issuer: issuer, subjectLookups: [TestLookup.of(subjectLookup)], newID: UUID(), subjectSealed: [1], signedInAt: signedInAt)
    }

    /// Creates an account for a person who signs in now, as the other function does.
    public func findOrCreate(
        issuer: String, subjectLookup: [UInt8]
    ) async throws -> (identity: FederatedIdentity, isNew: Bool) {
        guard let found = try await findOrCreate(issuer: issuer, subjectLookup: subjectLookup, signedInAt: Date()) else {
            throw PostgresError(code: .decoding, message: "the account of a test was erased")
        }
        return found
    }
}
