import HeliographCrypto
import Testing

@Suite struct P256Tests {
    /// The example of RFC 7515 appendix A.3.
    private static let example = (
        x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        token: "eyJhbGciOiJFUzI1NiJ9"
            + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
            + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    private func exampleKey() throws -> P256PublicKey {
        try P256PublicKey(x: bytes(Self.example.x), y: bytes(Self.example.y))
    }

    @Test func `the example of RFC 7515 is verified`() throws {
        let jws = try #require(JWS(Self.example.token))
        #expect(try exampleKey().verifyES256(signature: jws.signature, message: jws.signedBytes))
    }

    @Test func `a changed message or signature is not verified`() throws {
        let (jws, key) = (try #require(JWS(Self.example.token)), try exampleKey())
        #expect(!key.verifyES256(signature: jws.signature, message: jws.signedBytes + [0]))
        for index in jws.signature.indices {
            var signature = jws.signature
            signature[index] ^= 1
            #expect(!key.verifyES256(signature: signature, message: jws.signedBytes))
        }
        #expect(!key.verifyES256(signature: [], message: jws.signedBytes))
        #expect(!key.verifyES256(signature: jws.signature + [0], message: jws.signedBytes))
        #expect(!key.verifyES256(signature: [UInt8](repeating: 0, count: 64), message: jws.signedBytes))
        #expect(!key.verifyES256(signature: [UInt8](repeating: 255, count: 64), message: jws.signedBytes))
    }

    @Test func `the thumbprint is that of RFC 9449`() throws {
        let key = try P256PublicKey(
            x: bytes("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"), y: bytes("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"))
        #expect(Base64URL.encode(key.thumbprint) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test func `a point off the curve and coordinates of another length are no key`() throws {
        let (x, y) = (try bytes(Self.example.x), try bytes(Self.example.y))
        for (x, y) in [
            (x, x), (y, x), (x, [UInt8](repeating: 0, count: 32)), ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32)),
            ([UInt8](repeating: 255, count: 32), y), (x, y.dropLast()), (x + [0], y), ([], []),
        ] as [([UInt8], [UInt8])] {
            #expect { try P256PublicKey(x: x, y: Array(y)) } throws: { ($0 as? CryptoError)?.code == .invalidKey }
        }
    }

    @Test func `a new key signs what its public key verifies, and says nothing of itself`() throws {
        let (first, second) = (try P256PrivateKey(), try P256PrivateKey())
        let message = Array("message".utf8)
        for _ in 0..<50 {
            let signature = try first.signES256(message)
            #expect(signature.count == P256PublicKey.signatureByteCount)
            #expect(try first.publicKey.verifyES256(signature: signature, message: message))
            #expect(try !second.publicKey.verifyES256(signature: signature, message: message))
        }
        #expect("\(first)" == "P256PrivateKey")
        #expect(Mirror(reflecting: first).children.isEmpty)
    }
}
