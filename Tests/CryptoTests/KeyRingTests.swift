import HeliographCrypto
import Testing

@Suite struct KeyRingTests {
    @Test(
        "a key ring refuses text that is not a list of keys",
        arguments: [
            "", "k1", "k1:", ":AAAA", "k1:AAAA", "k 1:\(Base64.encode([UInt8](repeating: 1, count: 32)))",
            "k1:\(Base64.encode([UInt8](repeating: 1, count: 31)))", "k1:\(Base64URL.encode([UInt8](repeating: 255, count: 32)))",
            "\(KeyRing.generateText()),", "\(KeyRing.generateText()),\(KeyRing.generateText())",
            "\(String(repeating: "k", count: 33)):\(Base64.encode([UInt8](repeating: 1, count: 32)))",
        ])
    func refuses(text: String) {
        let error = #expect(throws: CryptoError.self) { try KeyRing(parsing: text) }
        #expect(error?.code == .invalidKey)
    }

    @Test func `an error names the position of the key and never its text`() {
        let secret = Base64.encode([UInt8](repeating: 7, count: 31))
        let error = #expect(throws: CryptoError.self) {
            try KeyRing(parsing: "\(KeyRing.generateText(id: "a")),b:\(secret)")
        }
        #expect(error?.message.contains("sealing key 2") == true)
        #expect(error?.description.contains(secret) == false)
    }

    @Test func `the description of a key ring has no key`() throws {
        let text = KeyRing.generateText(id: "primary")
        let ring = try KeyRing(parsing: text)
        var dumped = ""
        dump(ring, to: &dumped)
        for shown in ["\(ring)", String(reflecting: ring), dumped] {
            #expect(shown.contains("primary"))
            #expect(!shown.contains(text.dropFirst("primary:".count)))
            #expect(!shown.contains("bytes"))
        }
    }
}
