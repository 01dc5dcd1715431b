import Testing

@testable import HeliographCrypto

@Suite struct AESGCMTests {
    struct Vector: Sendable {
        let key: String
        let nonce: String
        let plaintext: String
        var associated = ""
        let ciphertext: String
        let tag: String
    }

    /// Cases 13, 14 and 16 of the specification that NIST adopted as SP 800-38D.
    static let vectors = [
        Vector(
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12), plaintext: "",
            ciphertext: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
        Vector(
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            plaintext: String(repeating: "00", count: 16), ciphertext: "cea7403d4d606b6e074ec5d3baf39d18",
            tag: "d0d1c8a799996bf0265b98b5d48ab919"),
        Vector(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888",
            plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            ciphertext: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    @Test(arguments: vectors)
    func `AES-256-GCM gives the published ciphertext and tag`(vector: Vector) throws {
        let key = try #require(Hex.decode(vector.key))
        let nonce = try #require(Hex.decode(vector.nonce))
        let plaintext = try #require(Hex.decode(vector.plaintext))
        let associated = try #require(Hex.decode(vector.associated))
        var sealed: [UInt8] = []
        var sealing = try AESGCM(key: AESGCM.Key(key), isSealing: true)
        try plaintext.withUnsafeBytes { try sealing.seal($0, nonce: AESGCM.Nonce(nonce), associated: associated[...], into: &sealed) }
        #expect(Hex.encode(sealed) == vector.ciphertext + vector.tag)
        var inParts: [UInt8] = []
        let (first, second) = (associated.prefix(associated.count / 3), Array(associated.dropFirst(associated.count / 3)))
        try plaintext.withUnsafeBytes {
            try sealing.seal($0, nonce: AESGCM.Nonce(nonce), associated: first, following: second, into: &inParts)
        }
        #expect(inParts == sealed)
        var opened: [UInt8] = []
        var opening = try AESGCM(key: AESGCM.Key(key), isSealing: false)
        try sealed.withUnsafeBytes { try opening.open($0, nonce: AESGCM.Nonce(nonce), associated: associated[...], into: &opened) }
        #expect(opened == plaintext)
    }

    @Test(
        "derived keys are those of XAES-256-GCM, by its published vectors",
        arguments: [
            ("01", "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
            ("03", "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
        ])
    func derives(byte: String, associated: String, ciphertext: String) throws {
        let nonce = Array("ABCDEFGHIJKLMNOPQRSTUVWX".utf8)
        let ringKey = try #require(Hex.decode(String(repeating: byte, count: 32)))
        let key = ValueKeyDerivation(key: ringKey).key(salt: nonce.prefix(12))
        var sealing = try AESGCM(key: key, isSealing: true)
        var sealed: [UInt8] = []
        try Array("XAES-256-GCM".utf8).withUnsafeBytes {
            try sealing.seal($0, nonce: AESGCM.Nonce(Array(nonce.suffix(12))), associated: Array(associated.utf8)[...], into: &sealed)
        }
        #expect(Hex.encode(sealed) == ciphertext)
    }

    @Test func `a segment with a wrong tag yields no plaintext`() throws {
        let key = SecureRandom.bytes(32)
        let nonce = SecureRandom.bytes(12)
        var sealed: [UInt8] = []
        var sealing = try AESGCM(key: AESGCM.Key(key), isSealing: true)
        try [UInt8](repeating: 7, count: 100).withUnsafeBytes {
            try sealing.seal($0, nonce: AESGCM.Nonce(nonce), associated: [], into: &sealed)
        }
        sealed[sealed.count - 1] ^= 1
        var opened: [UInt8] = [1, 2]
        var opening = try AESGCM(key: AESGCM.Key(key), isSealing: false)
        do {
            try sealed.withUnsafeBytes { try opening.open($0, nonce: AESGCM.Nonce(nonce), associated: [], into: &opened) }
            Issue.record("a wrong tag was accepted")
        } catch {
            #expect(opened == [1, 2])
        }
    }
}

extension AESGCM.Key {
    fileprivate init(_ bytes: [UInt8]) { self.init(SIMD32(bytes)) }
}

extension AESGCM.Nonce {
    fileprivate init(_ bytes: [UInt8]) {
        self.init(prefix: bytes[..<7], counter: bytes[7..<11].reduce(0) { $0 << 8 | UInt32($1) }, end: bytes[11])
    }
}
