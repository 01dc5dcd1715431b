import HeliographCrypto
import JSON
import TestSupport
import Testing

@testable import Accounts

@Suite struct ErasureReceiptKeyTests {
    private let lookupKey = [UInt8](repeating: 3, count: 32)
    private let newKey = [UInt8](repeating: 4, count: 32)
    private let claims: JSONValue = ["jti": "e1", "erasure": ["scope": "account"]]

    /// RFC 8037 A.2 and A.3.
    @Test func `the public key and its id are those of RFC 8037`() throws {
        let key = ErasureReceiptKey(key: try Ed25519Key(seed: #require(Base64URL.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"))))
        #expect(key.id == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        let published = try #require(key.publicKeys["keys"]?[0])
        #expect(published["x"]?.string == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
        #expect(published["kid"]?.string == key.id)
    }

    @Test func `a receipt is verified by the published key alone`() throws {
        let key = try ErasureReceiptKey(lookupKeys: .test(lookupKey))
        let parts = try key.sign(claims).split(separator: ".")
        try #require(parts.count == 3)
        let header = try JSONValue(parsing: #require(Base64URL.decode(String(parts[0]))))
        #expect(header == .members(("alg", "EdDSA"), ("kid", .string(key.id)), ("typ", "erasure-receipt+jwt")))
        let published = try #require(key.publicKeys["keys"]?[0]?["x"]?.string)
        let reader = try Ed25519PublicKey(bytes: #require(Base64URL.decode(published)))
        let signature = try #require(Base64URL.decode(String(parts[2])))
        #expect(reader.verify(signature: signature, message: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func `each process derives the same key`() throws {
        let receipt = try ErasureReceiptKey(lookupKeys: .test(lookupKey)).sign(claims)
        #expect(try ErasureReceiptKey(lookupKeys: .test(lookupKey)).verifiedClaims(of: receipt) == claims.text)
    }

    @Test func `a receipt of another installation is not verified`() throws {
        let receipt = try ErasureReceiptKey(lookupKeys: .test(newKey)).sign(claims)
        #expect(try ErasureReceiptKey(lookupKeys: .test(lookupKey)).verifiedClaims(of: receipt) == nil)
    }

    @Test func `two keys verify, the first one signs, and a receipt of the other one is signed anew`() throws {
        let old = try ErasureReceiptKey(lookupKeys: .test(lookupKey))
        let both = try ErasureReceiptKey(lookupKeys: .test([("k2", newKey), ("k1", lookupKey)]))
        let new = try ErasureReceiptKey(lookupKeys: .test([("k2", newKey)]))
        let receipt = try old.sign(claims)
        #expect(both.verifiedClaims(of: receipt) == claims.text && new.verifiedClaims(of: receipt) == nil)
        #expect(both.publicKeys["keys"]?[0]?["kid"]?.string == new.id && both.publicKeys["keys"]?[1]?["kid"]?.string == old.id)
        let again = try #require(try both.signedAnew(receipt))
        #expect(new.verifiedClaims(of: again) == claims.text)
        #expect(try both.signedAnew(again) == nil)
        #expect(throws: CryptoError.self) { try new.signedAnew(receipt) }
    }

    @Test func `a changed receipt is not verified`() throws {
        let key = try ErasureReceiptKey(lookupKeys: .test(lookupKey))
        let parts = try key.sign(claims).split(separator: ".").map(String.init)
        let other = Base64URL.encode(JSONValue.members(("jti", "e2")).bytes)
        let unsigned = Base64URL.encode(JSONValue.members(("alg", "none")).bytes)
        let changed = [
            "\(parts[0]).\(other).\(parts[2])", "\(unsigned).\(parts[1]).\(parts[2])", "\(unsigned).\(parts[1]).",
            "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).\(parts[2]).", "",
        ]
        for receipt in changed { #expect(key.verifiedClaims(of: receipt) == nil) }
    }
}
