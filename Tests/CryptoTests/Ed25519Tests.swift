import HeliographCrypto
import Testing

@Suite struct Ed25519Tests {
    @Test(
        "the vectors of RFC 8032 §7.1 are signed and verified as published",
        arguments: [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                    + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                    + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                    + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            ),
        ])
    func vectors(seed: String, publicKey: String, message: String, signature: String) throws {
        let key = try Ed25519Key(seed: #require(Hex.decode(seed)))
        let message = try #require(Hex.decode(message))
        #expect(Hex.encode(key.publicKey.bytes) == publicKey)
        #expect(Hex.encode(try key.sign(message)) == signature)
        let reader = try Ed25519PublicKey(bytes: #require(Hex.decode(publicKey)))
        #expect(reader.verify(signature: try #require(Hex.decode(signature)), message: message))
    }

    @Test func `the signature of RFC 8037 A 4 is made as published`() throws {
        let key = try Ed25519Key(seed: #require(Base64URL.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")))
        let message = Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8)
        #expect(
            Base64URL.encode(try key.sign(message))
                == "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
    }

    @Test func `a signature is valid for its message and its key only`() throws {
        let key = try Ed25519Key(seed: [UInt8](repeating: 7, count: 32))
        let other = try Ed25519Key(seed: [UInt8](repeating: 8, count: 32))
        let message = Array("a receipt".utf8)
        let signature = try key.sign(message)
        #expect(key.publicKey.verify(signature: signature, message: message))
        #expect(!key.publicKey.verify(signature: signature, message: message + [0]))
        #expect(!other.publicKey.verify(signature: signature, message: message))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.publicKey.verify(signature: changed, message: message))
        }
    }

    /// The group order is added to the second half: it is the same number for the curve, and RFC 8032 §5.1.7 refuses it.
    @Test func `a signature has one spelling`() throws {
        let order: [UInt8] = try #require(Hex.decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"))
        let key = try Ed25519Key(seed: [UInt8](repeating: 7, count: 32))
        var signature = try key.sign([1])
        var carry = 0
        for index in order.indices {
            let sum = Int(signature[32 + index]) + Int(order[index]) + carry
            signature[32 + index] = UInt8(sum & 0xFF)
            carry = sum >> 8
        }
        #expect(!key.publicKey.verify(signature: signature, message: [1]))
    }

    @Test(arguments: [0, 31, 33, 64])
    func `keys and signatures of another length are refused`(length: Int) throws {
        let bytes = [UInt8](repeating: 1, count: length)
        #expect(#expect(throws: CryptoError.self) { try Ed25519Key(seed: bytes) }?.code == .invalidKey)
        #expect(#expect(throws: CryptoError.self) { try Ed25519PublicKey(bytes: bytes) }?.code == .invalidKey)
        let key = try Ed25519Key(seed: [UInt8](repeating: 7, count: 32))
        #expect(!key.publicKey.verify(signature: bytes, message: [1]))
    }

    @Test func `a key shows nothing of itself`() throws {
        let key = try Ed25519Key(seed: [UInt8](repeating: 7, count: 32))
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "Ed25519Key")
        #expect(dumped == "- Ed25519Key\n")
    }
}
