import HeliographCrypto
import Testing

@Suite struct StreamSealerTests {
    let sealer: Sealer
    let context = Array("ekyc/1/0".utf8)
    static let segment = Sealer.segmentByteCount
    static let headerLength = 3 + 2 + 12 + 7  // for the two characters of "k1"

    init() throws {
        sealer = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText()))
    }

    func seal(_ plaintext: [UInt8], piece: Int = 10_000) throws -> [UInt8] {
        var stream = try sealer.makeStreamSealer(context: context)
        var sealed = stream.header()
        var rest = plaintext[...]
        while !rest.isEmpty {
            sealed += try stream.update(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        return try sealed + stream.finish()
    }

    func open(_ sealed: [UInt8], piece: Int = 10_000, context: [UInt8]? = nil) throws -> [UInt8] {
        var stream = try sealer.makeStreamOpener(context: context ?? self.context)
        var plaintext: [UInt8] = []
        var rest = sealed[...]
        while !rest.isEmpty {
            plaintext += try stream.update(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        return try plaintext + stream.finish()
    }

    @Test(arguments: [0, 1, segment - 1, segment, segment + 1, 2 * segment, 2 * segment + 1, 300_000])
    func `a stream of any length opens completely`(length: Int) throws {
        let plaintext = SecureRandom.bytes(length)
        let sealed = try seal(plaintext)
        let segments = max(1, (length + Self.segment - 1) / Self.segment)
        #expect(sealed.count == Self.headerLength + length + 16 * segments)
        #expect(try open(sealed) == plaintext)
    }

    @Test(arguments: [1, 7, 65_535, 65_536, 65_537, 65_552, 1_000_000])
    func `the size of the pieces does not matter`(piece: Int) throws {
        let plaintext = SecureRandom.bytes(150_000)
        #expect(try open(try seal(plaintext, piece: piece), piece: 1 + 150_000 % piece) == plaintext)
        #expect(try open(try seal(plaintext), piece: piece) == plaintext)
    }

    @Test func `a truncated stream does not open`() throws {
        let sealed = try seal(SecureRandom.bytes(2 * Self.segment + 100))
        let boundary = Self.headerLength + Self.segment + 16
        let cuts = [0, 1, 2, Self.headerLength - 1, Self.headerLength, boundary, 2 * boundary - Self.headerLength, sealed.count - 1]
        for cut in cuts + [boundary - 1, boundary + 1] {
            #expect(throws: CryptoError.self, "cut to \(cut) bytes") { try open(Array(sealed[..<cut])) }
        }
    }

    @Test func `an extended stream does not open`() throws {
        let sealed = try seal(SecureRandom.bytes(Self.segment))
        #expect(throws: CryptoError.self) { try open(sealed + [0]) }
        #expect(throws: CryptoError.self) { try open(sealed + sealed.dropFirst(Self.headerLength)) }
    }

    @Test func `swapped, repeated and dropped segments do not open`() throws {
        let sealed = try seal(SecureRandom.bytes(3 * Self.segment))
        let header = sealed[..<Self.headerLength]
        let length = Self.segment + 16
        let parts = (0..<3).map { sealed[(Self.headerLength + $0 * length)..<(Self.headerLength + ($0 + 1) * length)] }
        #expect(try open(Array(header + parts[0] + parts[1] + parts[2])).count == 3 * Self.segment)
        for order in [[1, 0, 2], [0, 0, 1, 2], [0, 2], [1, 2], [2], [0, 1]] {
            #expect(throws: CryptoError.self) { try open(order.reduce(into: Array(header)) { $0 += parts[$1] }) }
        }
    }

    @Test func `segments of another stream do not open`() throws {
        let first = try seal(SecureRandom.bytes(Self.segment + 1))
        let second = try seal(SecureRandom.bytes(Self.segment + 1))
        let boundary = Self.headerLength + Self.segment + 16
        #expect(throws: CryptoError.self) { try open(Array(first[..<boundary] + second[boundary...])) }
        #expect(throws: CryptoError.self) { try open(Array(first[..<Self.headerLength] + second[Self.headerLength...])) }
    }

    @Test func `a changed byte stops the stream at its segment`() throws {
        let plaintext = SecureRandom.bytes(2 * Self.segment)
        var sealed = try seal(plaintext)
        sealed[sealed.count - 20] ^= 1
        var stream = try sealer.makeStreamOpener(context: context)
        #expect(try stream.update(sealed) == Array(plaintext[..<Self.segment]))
        do {
            _ = try stream.finish()
            Issue.record("the changed segment opened")
        } catch {
            #expect(error.code == .authenticationFailed)
        }
    }

    @Test func `another context does not open a stream`() throws {
        let sealed = try seal([1, 2, 3])
        #expect(throws: CryptoError.self) { try open(sealed, context: Array("ekyc/1/1".utf8)) }
    }

    @Test func `a finished stream accepts no more bytes`() throws {
        var stream = try sealer.makeStreamSealer(context: context)
        _ = try stream.finish()
        do {
            _ = try stream.update([1])
            Issue.record("a finished stream took a byte")
        } catch {
            #expect(error.code == .streamMisuse)
        }
        do {
            _ = try stream.finish()
            Issue.record("a stream was finished twice")
        } catch {
            #expect(error.code == .streamMisuse)
        }
    }
}
