import FoundationEssentials
import HeliographCrypto
import JSON
import NIOPosix

/// The keys with which Firebase Authentication signs ID tokens, as Google keeps them: one signs, and its predecessors stay published.
actor IDTokenSigner {
    /// A key with the id under which it is published.
    struct Key: Sendable {
        let id: String
        let privateKey: RSAPrivateKey
        let publicKey: RSAPublicKey
        /// The key as a member of a JSON Web Key Set.
        let json: JSONValue

        fileprivate init() throws {
            id = RandomText.hexadecimal(40)
            privateKey = try RSAPrivateKey.generate()
            publicKey = try privateKey.publicKey
            let numbers = try publicKey.numbers
            json = [
                "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(id), "n": .string(Base64URL.encode(numbers.modulus)),
                "e": .string(Base64URL.encode(numbers.exponent)),
            ]
        }
    }

    /// The most predecessors that stay published; the oldest go first.
    private static let maxRetired = 16

    private var signing: Key?
    private var first: Task<Key, any Error>?
    private var stranger: Task<Key, any Error>?
    private var retired: [(key: Key, publishedUntil: Date)] = []

    /// The key that signs; made at the first use, which takes a tenth of a second.
    var current: Key {
        get async throws {
            if let signing { return signing }
            let task = first ?? Self.make()
            first = task
            let made = try await task.value
            // A rotation may have come first.
            let key = signing ?? made
            signing = key
            return key
        }
    }

    /// A key that is never published.
    var unpublished: Key {
        get async throws {
            let key = stranger ?? Self.make()
            stranger = key
            return try await key.value
        }
    }

    /// Signs with a new key from now on, and keeps the old one published until a time.
    ///
    /// - Returns: The id of the new key.
    func rotate(publishingOldUntil end: Date) async throws -> String {
        let key = try await Self.make().value
        if let signing { retired.append((signing, end)) }
        signing = key
        retired.removeFirst(max(0, retired.count - Self.maxRetired))
        return key.id
    }

    /// The keys that are published now, as a JSON Web Key Set.
    func published(now: Date) async throws -> JSONValue {
        let current = try await current
        retired.removeAll { $0.publishedUntil <= now }
        return ["keys": .array(([current] + retired.map(\.key)).map(\.json))]
    }

    /// Generates a key, which is CPU-bound, on a thread for blocking work.
    private static func make() -> Task<Key, any Error> { Task { try await NIOThreadPool.singleton.runIfActive { try Key() } } }
}
