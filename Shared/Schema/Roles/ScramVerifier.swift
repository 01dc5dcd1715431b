internal import HeliographCrypto

/// What Postgres stores of a password (RFC 5803), made here so that no statement, and with it no log of the server, has the password.
struct ScramVerifier {
    /// The iterations of PBKDF2 that Postgres itself uses.
    static let defaultIterations = 4096
    private static let saltByteCount = 16

    /// `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`
    let text: String

    /// Makes the verifier of a password of printable ASCII, which SASLprep (RFC 4013) leaves as it is.
    init(
        password: String, salt: [UInt8] = SecureRandom.bytes(Self.saltByteCount), iterations: Int = Self.defaultIterations
    ) {
        let salted = Self.saltedPassword(Array(password.utf8), salt: salt, iterations: iterations)
        let key = HMACSHA256(key: salted)
        let storedKey = SHA256.hash(key.authenticate(Array("Client Key".utf8)))
        let serverKey = key.authenticate(Array("Server Key".utf8))
        text = "SCRAM-SHA-256$\(iterations):\(Base64.encode(salt))$\(Base64.encode(storedKey)):\(Base64.encode(serverKey))"
    }

    /// `Hi` of RFC 5802: PBKDF2 with HMAC-SHA-256 and one block.
    private static func saltedPassword(_ password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        let key = HMACSHA256(key: password)
        var block = key.authenticate(salt + [0, 0, 0, 1])
        var result = block
        for _ in 1..<max(iterations, 1) {
            block = key.authenticate(block)
            for index in result.indices { result[index] ^= block[index] }
        }
        return result
    }
}
