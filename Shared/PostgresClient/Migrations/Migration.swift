/// One numbered step of a schema, and the way back.
public struct Migration: Sendable, Hashable {
    /// Its place in the order; unique, and at least 1.
    public let number: Int
    /// What it does, in a few words.
    public let name: String
    /// SQL that takes the step; may hold several statements, none of which ends the transaction.
    public let up: String
    /// SQL that takes it back.
    public let down: String

    /// Creates a migration.
    public init(number: Int, name: String, up: String, down: String) {
        self.number = number
        self.name = name
        self.up = up
        self.down = down
    }

    /// 64-bit FNV-1a of both texts, in hexadecimal: it has to notice edits, not attacks.
    var checksum: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        // The zero keeps text from moving unnoticed from one to the other.
        for byte in [Array(up.utf8), [0], Array(down.utf8)].joined() {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Where one migration stands.
public struct MigrationStatus: Sendable, Hashable {
    /// What is known of a migration.
    public enum State: Sendable, Hashable {
        /// Applied, and the same as in the program.
        case applied
        /// Not applied yet.
        case pending
        /// Applied, but another text than in the program.
        case changed
        /// Applied, but not in the program: a newer program was here.
        case unknown
    }

    /// The number of the migration.
    public let number: Int
    /// Its name, from the program, or else from the database.
    public let name: String
    /// Where it stands.
    public let state: State
}
