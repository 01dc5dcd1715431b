/// One numbered change of a schema, and its reversal.
public struct Migration: Sendable, Hashable {
    /// The position in the order; unique, and at least 1.
    public let number: Int
    /// The change in a few words.
    public let name: String
    /// SQL that makes the change. It may hold several statements, but none that ends the transaction.
    public let up: String
    /// SQL that reverts the change.
    public let down: String

    /// Creates a migration.
    public init(number: Int, name: String, up: String, down: String) {
        self.number = number
        self.name = name
        self.up = up
        self.down = down
    }

    /// 64-bit FNV-1a of both texts, in hexadecimal: it must detect edits, not attacks.
    var checksum: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        // The zero between them detects text that is moved from one to the other.
        for byte in [Array(up.utf8), [0], Array(down.utf8)].joined() {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The status of one migration.
public struct MigrationStatus: Sendable, Hashable {
    /// The relation between the database and the program.
    public enum State: Sendable, Hashable {
        /// Applied, and the same as in the program.
        case applied
        /// Not applied yet.
        case pending
        /// Applied with another text than in the program.
        case changed
        /// Applied, but not in the program: a newer program applied it.
        case unknown
    }

    /// The number of the migration in the program or, if it is unknown there, in the database.
    public let number: Int
    /// The name in the program, or else in the database.
    public let name: String
    /// Whether the migration was applied, and whether its text is the program's.
    public let state: State
}
