import HeliographCrypto
import Testing

@Suite struct DigestTests {
    @Test(
        "SHA-256 gives the digests of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func sha256Vectors(message: String, digest: String) {
        #expect(Hex.encode(SHA256.hash(message)) == digest)
    }

    @Test func `SHA-256 of pieces equals SHA-256 of the whole`() {
        let million = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        var hasher = SHA256.Hasher()
        var rest = million[...]
        var size = 1
        while !rest.isEmpty {
            hasher.update(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            size = size * 3 % 1021 + 1
        }
        #expect(
            Hex.encode(hasher.finalize()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test(
        "HMAC-SHA-256 gives the codes of RFC 4231",
        arguments: [
            (
                String(repeating: "0b", count: 20), Hex.encode(Array("Hi There".utf8)),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Hex.encode(Array("Jefe".utf8)), Hex.encode(Array("what do ya want for nothing?".utf8)),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                String(repeating: "aa", count: 131),
                Hex.encode(Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func hmacVectors(key: String, message: String, code: String) throws {
        let key = try #require(Hex.decode(key))
        let message = try #require(Hex.decode(message))
        #expect(Hex.encode(HMACSHA256.authenticate(message, key: key)) == code)
        #expect(HMACSHA256.isValid(try #require(Hex.decode(code)), of: message, key: key))
        #expect(!HMACSHA256.isValid(try #require(Hex.decode(code)), of: message + [0], key: key))
    }

    @Test func `a prepared key gives the same codes on many threads at once`() async {
        let key = SecureRandom.bytes(32)
        let ready = HMACSHA256(key: key)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { index in
                        let message = Array("\(task) \(index)".utf8)
                        return ready.authenticate(message) == HMACSHA256.authenticate(message, key: key)
                    }
                }
            }
            for await agrees in group { #expect(agrees) }
        }
    }

    @Test func `HMAC accepts an empty key and an empty message`() {
        #expect(
            Hex.encode(HMACSHA256.authenticate([], key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `constant-time comparison agrees with equality`() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    }

    @Test func `random bytes differ and have the requested length`() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(32).count == 32)
        #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
    }
}
