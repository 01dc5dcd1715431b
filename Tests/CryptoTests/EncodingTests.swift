import HeliographCrypto
import Testing

@Suite struct EncodingTests {
    @Test(
        "base64 gives the vectors of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64Vectors(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        let bare = encoded.filter { $0 != "=" }
        #expect(Base64URL.encode(Array(plain.utf8)) == bare)
        #expect(Base64URL.decode(bare) == Array(plain.utf8))
    }

    @Test func `the alphabets differ in their last two symbols`() {
        let bytes: [UInt8] = [0xfb, 0xff, 0xbf]
        #expect(Base64.encode(bytes) == "+/+/")
        #expect(Base64URL.encode(bytes) == "-_-_")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64URL.decode("+/+/") == nil)
    }

    @Test(
        "base64 refuses what is not exactly base64",
        arguments: ["Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zg==Zg==", "Zh==", "Zm9=", "Zm 8", "Zm8=\n", "Zg=A"])
    func base64Refuses(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Z", "Zg==", "Zh", "Zm9v\n", "Zm9v "])
    func `base64url refuses text that is not canonical`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `random bytes survive every encoding`() {
        for length in 0..<200 {
            let bytes = SecureRandom.bytes(length)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test func `a text that is appended in pieces is the same as in one`() {
        let bytes = SecureRandom.bytes(100_000)
        var text = Array("data:".utf8)
        Base64.encode(bytes, into: &text)
        #expect(text == Array("data:\(Base64.encode(bytes))".utf8))
    }

    @Test func `hex accepts digits of both cases only`() {
        #expect(Hex.decode("00fFA5") == [0, 255, 165])
        #expect(Hex.decode("0") == nil)
        #expect(Hex.decode("0g") == nil)
    }
}
