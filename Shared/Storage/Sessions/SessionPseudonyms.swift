public import FoundationEssentials
internal import HeliographCrypto
internal import WireFormat

/// Makes the ids that pushes carry in place of an account's, one for each session.
///
/// A phone that only claims an e-mail address learns from such a push neither the id of the account nor whether there is one,
/// and two sessions of one address cannot be told to belong together.
public struct SessionPseudonyms: Sendable {
    private static let label = Array("heliograph session pseudonym".utf8)

    private let code: HMACSHA256

    /// Derives the key of the pseudonyms from `LOOKUP_KEY`, so that no other HMAC under that key is one.
    public init(lookupKey: [UInt8]) {
        code = HMACSHA256(key: HMACSHA256.authenticate(Self.label, key: lookupKey))
    }

    /// Returns the pseudonym of a session: the same at each call, shaped as a random UUID.
    public func id(of sessionID: UUID) -> UUID {
        UUID(hash: code.authenticate(Array(sessionID.wireString.utf8)))
    }
}
