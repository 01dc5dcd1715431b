import HeliographCrypto
import Testing

@Suite struct LookupKeysTests {
    private let old = KeyRing.generateText(id: "k1")
    private let new = KeyRing.generateText(id: "key-2")

    private func keys(_ rings: String...) throws -> LookupKeys { LookupKeys(try KeyRing(parsing: rings.joined(separator: ","))) }

    @Test func `a lookup is the id of its key and an HMAC under it`() throws {
        let key = try #require(Base64.decode(String(old.dropFirst("k1:".count))))
        let hash = HMACSHA256.authenticate(Array("email:ada@example.org".utf8), key: key)
        let lookups = try keys(old).lookups(of: "email:ada@example.org")
        #expect(lookups == [[2] + Array("k1".utf8) + hash])
        #expect(LookupKeys.keyID(of: lookups[0]) == "k1")
        #expect(try keys(old).hashes(of: "email:ada@example.org") == [hash])
    }

    @Test func `a ring of two keys gives a lookup of each, in its order`() throws {
        let (first, second) = (try keys(old), try keys(new))
        let both = try keys(new, old)
        #expect(both.ids == ["key-2", "k1"])
        #expect(both.lookups(of: "x") == second.lookups(of: "x") + first.lookups(of: "x"))
        #expect(
            both.derived(for: "tokens").hashes(of: "x") == second.derived(for: "tokens").hashes(of: "x")
                + first.derived(for: "tokens").hashes(of: "x"))
    }

    @Test func `derived keys are others for each purpose`() throws {
        let keys = try keys(old)
        let hashes = [keys, keys.derived(for: "tokens"), keys.derived(for: "codes")].map { $0.hashes(of: "x")[0] }
        #expect(Set(hashes).count == 3)
        #expect(keys.derived(for: "tokens").ids == ["k1"])
    }

    @Test(arguments: [[], [2], [2, 107, 49], [UInt8](repeating: 0, count: 33), [UInt8](repeating: 200, count: 40)] as [[UInt8]])
    func `other bytes have no key`(_ bytes: [UInt8]) {
        #expect(LookupKeys.keyID(of: bytes) == nil)
    }

    @Test func `the keys are not printed`() throws {
        let keys = try keys(old)
        var dumped = ""
        dump(keys, to: &dumped)
        let secret = String(old.dropFirst("k1:".count))
        #expect(!dumped.contains(secret) && "\(keys)" == "LookupKeys(k1)")
    }
}
