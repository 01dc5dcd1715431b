internal import PostgresClient

/// The stored form of an e-mail address.
public struct SealedEmail: Sendable, Equatable {
    /// The lookups by which it is found, one for each key: see `LookupKeys`.
    public let lookups: [[UInt8]]
    /// The e-mail, sealed with `SealingContext.email`.
    public let sealed: [UInt8]

    /// Describes an e-mail.
    public init(lookups: [[UInt8]], sealed: [UInt8]) {
        self.lookups = lookups
        self.sealed = sealed
    }

    /// Reads the columns `email_lookups` and `email_sealed`, or those with a prefix before their names; nil when they are null.
    init?(row: PostgresRow, prefix: String = "") throws(PostgresError) {
        let lookups = try row.decode(prefix + "email_lookups", as: [[UInt8]]?.self)
        let sealed = try row.decode(prefix + "email_sealed", as: [UInt8]?.self)
        guard let lookups, let sealed else { return nil }
        self.init(lookups: lookups, sealed: sealed)
    }
}
