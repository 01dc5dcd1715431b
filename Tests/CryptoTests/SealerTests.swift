import HeliographCrypto
import Testing

@Suite struct SealerTests {
    let sealer: Sealer
    let context = Array("face_template:1".utf8)

    init() throws {
        sealer = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText()))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1024, 65_536, 200_000])
    func `a sealed value opens`(length: Int) throws {
        let plaintext = SecureRandom.bytes(length)
        let sealed = try sealer.seal(plaintext, context: context)
        #expect(try sealer.open(sealed, context: context) == plaintext)
    }

    @Test func `one sealer opens values of several keys, lengths and contexts, also after one that does not open`() async throws {
        let keys = [KeyRing.generateText(id: "new"), KeyRing.generateText(id: "old")]
        let sealers = try [Sealer(keyRing: KeyRing(parsing: keys[0])), Sealer(keyRing: KeyRing(parsing: keys[1]))]
        let opener = Sealer(keyRing: try KeyRing(parsing: keys.joined(separator: ",")))
        let values = try (0..<40).map { number in
            let (plaintext, context) = (SecureRandom.bytes(number * 7), SecureRandom.bytes(number % 3 * 20))
            return (sealed: try sealers[number % 2].seal(plaintext, context: context), plaintext, context)
        }
        // One after the other, so that each but the first is opened with the context of the one before it.
        for (sealed, plaintext, context) in values { #expect(try opener.open(sealed, context: context) == plaintext) }
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for (sealed, plaintext, context) in values {
                        let opened = try opener.open(sealed, context: context)
                        #expect(opened == plaintext)
                        #expect(throws: CryptoError.self) { try opener.open(Array(sealed.dropLast()), context: context) }
                        #expect(throws: CryptoError.self) { try opener.open(sealed, context: context + [1]) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `sealing twice gives different bytes`() throws {
        #expect(try sealer.seal([1, 2, 3], context: context) != sealer.seal([1, 2, 3], context: context))
    }

    @Test func `changing any one bit breaks the seal`() throws {
        let sealed = try sealer.seal(Array("secret".utf8), context: context)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: CryptoError.self) { try sealer.open(changed, context: context) }
            }
        }
    }

    @Test func `truncating or extending breaks the seal`() throws {
        let sealed = try sealer.seal(Array("secret".utf8), context: context)
        for length in 0..<sealed.count {
            #expect(throws: CryptoError.self) { try sealer.open(Array(sealed[..<length]), context: context) }
        }
        #expect(throws: CryptoError.self) { try sealer.open(sealed + [0], context: context) }
    }

    @Test func `another context does not open a value`() throws {
        let sealed = try sealer.seal([1], context: Array("face_template:1".utf8))
        let error = #expect(throws: CryptoError.self) {
            try sealer.open(sealed, context: Array("face_template:2".utf8))
        }
        #expect(error?.code == .authenticationFailed)
    }

    @Test func `the boundary between header and context is authenticated`() throws {
        let sealed = try sealer.seal([1], context: [9, 9])
        #expect(throws: CryptoError.self) { try sealer.open(sealed, context: [9]) }
        #expect(throws: CryptoError.self) { try sealer.open(sealed, context: [9, 9, 0]) }
    }

    @Test func `another key under the same id does not open a value`() throws {
        let other = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText()))
        let sealed = try other.seal([1], context: context)
        let error = #expect(throws: CryptoError.self) { try sealer.open(sealed, context: context) }
        #expect(error?.code == .authenticationFailed)
    }

    @Test func `a rotated ring opens old values and seals with the new key`() throws {
        let old = KeyRing.generateText(id: "k1")
        let new = KeyRing.generateText(id: "k2")
        let before = Sealer(keyRing: try KeyRing(parsing: old))
        let rotated = Sealer(keyRing: try KeyRing(parsing: "\(new),\(old)"))
        let after = Sealer(keyRing: try KeyRing(parsing: new))

        let sealedBefore = try before.seal([1, 2], context: context)
        #expect(try rotated.open(sealedBefore, context: context) == [1, 2])
        let sealedRotated = try rotated.seal([3, 4], context: context)
        #expect(try after.open(sealedRotated, context: context) == [3, 4])
        let error = #expect(throws: CryptoError.self) { try after.open(sealedBefore, context: context) }
        #expect(error?.code == .unknownKey)
    }

    @Test func `a stream does not open as a whole value`() throws {
        var stream = try sealer.makeStreamSealer(context: context)
        var sealed = stream.header()
        sealed += try stream.finish()
        let error = #expect(throws: CryptoError.self) { try sealer.open(sealed, context: context) }
        #expect(error?.code == .malformed)
    }

    @Test func `a value sealed by an earlier build still opens`() throws {
        // Frozen: a change of the format must add a version, and not break values in databases.
        let ring = "golden:\(Base64.encode(Array(0..<32)))"
        let sealed = try #require(Hex.decode(Self.golden))
        let opened = try Sealer(keyRing: try KeyRing(parsing: ring)).open(sealed, context: Array("golden:1".utf8))
        #expect(String(decoding: opened, as: UTF8.self) == "Heliograph")
    }

    static let golden =
        "020106676f6c64656e419f40624995de45249d036d8b81d3d60cd7a184bf19b92c87cbefe7f6cb1996e0bf26"
        + "75a624ce0e534edd5616"
}
