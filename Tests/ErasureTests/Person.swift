import Accounts
import Foundation
import HeliographCrypto
import TestSupport
import WireFormat

/// A person, and the values by which rows of the database name them. The same seed makes the same person.
struct Person {
    let id: UUID
    /// A lookup of the e-mail, from which the key of sign-ins is derived.
    let emailLookup: [UInt8]
    /// Regular expressions of what tells of the person, in the text of a row: any of them.
    private(set) var needles: [String] = []
    private var random: SeededGenerator

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        id = UUID(bytes: Self.bytes(16, &random))
        emailLookup = LookupKeys.lookup(of: Self.bytes(32, &random), keyID: "k1")
        self.random = random
        add(emailLookup)
        add(id)
        add(attemptKey)
    }

    /// The id in texts.
    var name: String { id.wireString }

    /// The id under which sign-ins with the e-mail are counted.
    var attemptKey: UUID { AttemptKey.derive(from: emailLookup) }

    /// Makes bytes that are stored of the person, such as a hash or a sealed value: an SQL literal.
    mutating func bytes(_ count: Int = 32) -> String {
        let bytes = Self.bytes(count, &random)
        add(bytes)
        return Self.literal(bytes)
    }

    /// Makes a text of the person, without characters that SQL or JSON would escape.
    mutating func text() -> String {
        let bytes = Self.bytes(32, &random)
        add(bytes)
        return Hex.encode(bytes)
    }

    /// Makes another lookup of the person: an SQL literal.
    mutating func lookup() -> String {
        let lookup = LookupKeys.lookup(of: Self.bytes(32, &random), keyID: "k1")
        add(lookup)
        return Self.literal(lookup)
    }

    /// Makes the id of a thing, which by itself tells nothing of the person.
    mutating func thing() -> UUID { UUID(bytes: Self.bytes(16, &random)) }

    /// Makes the id of a thing of the person that nothing may name after an erasure.
    mutating func ownThing() -> UUID {
        let id = thing()
        add(id)
        return id
    }

    /// Returns bytes as an SQL literal.
    static func literal(_ bytes: [UInt8]) -> String { "'\\x\(Hex.encode(bytes))'::bytea" }

    private mutating func add(_ bytes: [UInt8]) { needles.append(Hex.encode(bytes)) }

    /// An id may be a column, a part of a text, or a part of a text that is stored as bytes.
    private mutating func add(_ id: UUID) {
        needles.append(id.wireString)
        add(Array(id.wireString.utf8))
        add(withUnsafeBytes(of: id.uuid) { Array($0) })
    }

    private static func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

extension UUID {
    fileprivate init(bytes: [UInt8]) { self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } }
}
