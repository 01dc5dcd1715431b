public import FoundationEssentials
public import HeliographCrypto
internal import PostgresClient

/// The tables with lookups. Each source has rows with a sealed plain text, from which a rotation computes the lookups of the row again.
///
/// The order is the one in which services copy lookups: from a source to a later one.
public enum LookupSource: String, Sendable, CaseIterable {
    /// Sign-ups that are not decided.
    case sessions
    /// Proofs of e-mails.
    case verifications
    /// The e-mails that changes have replaced.
    case formerEmails = "former_emails"
    /// The e-mails of accounts.
    case emails
    /// Users of identity providers.
    case subjects

    /// SQL names: the table, the column with the sealed text, and the column with the account that the text is bound to.
    var columns: (table: String, sealed: String, account: String) {
        switch self {
        case .sessions: ("sessions", "email_sealed", "user_id")
        case .verifications: ("email_verifications", "email_sealed", "account_id")
        case .formerEmails: ("email_verifications", "former_email_sealed", "account_id")
        case .emails: ("users", "email_sealed", "id")
        case .subjects: ("users", "subject_sealed", "id")
        }
    }

    /// SQL expression for the lookups of a row `t`: a column of it, or rows of another table.
    var lookups: String {
        switch self {
        case .sessions, .verifications: "email_lookups"
        case .formerEmails: "former_email_lookups"
        case .emails: "ARRAY(SELECT lookup FROM email_lookups l WHERE l.user_id = t.id)"
        case .subjects: "ARRAY(SELECT subject_lookup FROM identities i WHERE i.user_id = t.id)"
        }
    }
}

/// A row of a ``LookupSource`` with its sealed plain text and its lookups.
public struct LookupOwner: Sendable {
    /// The primary key.
    public let id: UUID
    /// The lookups that the row has.
    public let lookups: [[UInt8]]
    let source: LookupSource
    let sealed: [UInt8]
    /// The identity provider; `nil` for an e-mail.
    let issuer: String?
    private let accountID: UUID

    /// Reads the columns of ``LookupRepository/page(of:after:limit:)``; nil when the row has no sealed text.
    init?(row: PostgresRow, of source: LookupSource) throws(PostgresError) {
        guard let sealed = try row.decode("sealed", as: [UInt8]?.self) else { return nil }
        self.source = source
        self.sealed = sealed
        id = try row.decode("id")
        accountID = try row.decode("account_id")
        issuer = try row.decode("issuer")
        lookups = try row.decode("lookups", as: [[UInt8]]?.self) ?? []
    }

    /// Whether a key has made one of the lookups.
    public func has(keyID: String) -> Bool { lookups.contains { LookupKeys.keyID(of: $0) == keyID } }

    /// The lookups that were made by other keys than these.
    public func lookups(except keyIDs: [String]) -> [[UInt8]] {
        lookups.filter { lookup in !keyIDs.contains { $0 == LookupKeys.keyID(of: lookup) } }
    }

    /// Opens the plain text, and returns its lookups under all keys.
    ///
    /// - Throws: ``CryptoError`` when it does not open.
    public func lookups(under keys: LookupKeys, openedBy sealer: Sealer) throws(CryptoError) -> [[UInt8]] {
        guard source == .subjects else {
            let text = try sealer.open(sealed, context: SealingContext.email(accountID: accountID))
            return EmailAddress(stored: String(decoding: text, as: UTF8.self)).lookups(under: keys)
        }
        let subject = String(decoding: try sealer.open(sealed, context: SealingContext.subject(userID: accountID)), as: UTF8.self)
        guard let issuer else { throw CryptoError(.malformed, "an identity provider's user without the provider") }
        return FederatedSubject(subject, of: issuer).lookups(under: keys)
    }
}
