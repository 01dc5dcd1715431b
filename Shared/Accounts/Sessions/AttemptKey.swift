public import FoundationEssentials
internal import HeliographCrypto

/// The id under which sign-ins with an e-mail are counted and their photos remembered, whether it has an account or not: the column
/// `sessions.attempt_key`. It is no account's id.
public enum AttemptKey {
    /// Derives the key of an e-mail from a lookup of it, so that the erasure of an account, which knows only the lookups, can derive the
    /// same key.
    ///
    /// - Parameter emailLookup: One of `email_lookups.lookup`; see ``EmailAddress/lookups(under:)``.
    public static func derive(from emailLookup: [UInt8]) -> UUID {
        UUID(hash: SHA256.hash(Array("attempt_key:".utf8) + emailLookup))
    }
}
