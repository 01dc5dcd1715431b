import HeliographCrypto
import Testing

@Suite struct SealerRotationTests {
    private let old = KeyRing.generateText(id: "old")
    private let new = KeyRing.generateText(id: "new-key")
    private let context = Array("report:1".utf8)

    private func sealer(_ ring: String...) throws -> Sealer { Sealer(keyRing: try KeyRing(parsing: ring.joined(separator: ","))) }

    @Test func `a sealed value and a sealed stream name their key`() throws {
        let sealer = try sealer(new, old)
        #expect(sealer.currentKeyID == "new-key" && sealer.keyIDs == ["new-key", "old"])
        let sealed = try sealer.seal([1], context: context)
        #expect(Sealer.keyID(of: sealed) == "new-key")
        #expect(Sealer.keyID(of: Array(sealed.prefix(SealedSegments.maxHeaderByteCount))) == "new-key")
        #expect(Sealer.keyID(of: try self.sealer(old).makeStreamSealer(context: context).header()) == "old")
    }

    @Test(
        arguments: [[], [1], [1, 1, 1, 65], Array("JPEG or something else, long enough for a header ..................".utf8)] as [[UInt8]])
    func `bytes that are not sealed name no key`(bytes: [UInt8]) {
        #expect(Sealer.keyID(of: bytes) == nil)
    }

    @Test func `a value of another version names no key, and is refused as malformed`() throws {
        let sealer = try sealer(new)
        var sealed = try sealer.seal([1, 2, 3], context: context)
        #expect(sealed[0] == Sealer.version)
        sealed[0] -= 1
        #expect(Sealer.keyID(of: sealed) == nil)
        let error = #expect(throws: CryptoError.self) { try sealer.open(sealed, context: context) }
        #expect(error?.code == .malformed)
    }

    @Test func `every value that a key seals whole begins with the start of its key`() throws {
        let sealed = try sealer(new).seal([1], context: context)
        #expect(sealed.starts(with: Sealer.start(ofValuesWithKey: "new-key")))
        #expect(!sealed.starts(with: Sealer.start(ofValuesWithKey: "new-ke")))
    }

    @Test func `a value that is sealed anew opens without the old key`() throws {
        let sealed = try sealer(old).seal([1, 2, 3], context: context)
        let resealed = try #require(try sealer(new, old).resealed(sealed, context: context))
        #expect(try sealer(new).open(resealed, context: context) == [1, 2, 3])
        #expect(try sealer(new, old).resealed(resealed, context: context) == nil)
    }

    @Test func `a value of an unknown key or another context is not sealed anew`() throws {
        let sealed = try sealer(old).seal([1, 2, 3], context: context)
        #expect(throws: CryptoError.self) { try sealer(new).resealed(sealed, context: context) }
        #expect(throws: CryptoError.self) { try sealer(new, old).resealed(sealed, context: []) }
    }
}
