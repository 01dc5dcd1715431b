internal import PostgresClient

/// An e-mail address in the form in which it is stored.
public struct SealedEmail: Sendable, Equatable {
    /// HMAC-SHA256 of the normalised e-mail; 32 bytes.
    public let lookup: [UInt8]
    /// The e-mail, sealed with `SealingContext.email`.
    public let sealed: [UInt8]

    /// Describes an e-mail.
    public init(lookup: [UInt8], sealed: [UInt8]) {
        self.lookup = lookup
        self.sealed = sealed
    }

    /// Reads the columns `email_lookup` and `email_sealed`; nil when they are null.
    init?(row: PostgresRow) throws(PostgresError) {
        let lookup = try row.decode("email_lookup", as: [UInt8]?.self)
        let sealed = try row.decode("email_sealed", as: [UInt8]?.self)
        guard let lookup, let sealed else { return nil }
        self.init(lookup: lookup, sealed: sealed)
    }
}
