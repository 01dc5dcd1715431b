public import FoundationEssentials
internal import HeliographCrypto
internal import WireFormat

/// Makes the ids that pushes contain in place of account ids, one for each session.
///
/// A phone that only claims an e-mail address learns from such a push neither the account's id nor whether the account exists, and
/// two sessions of one address cannot be linked.
public struct SessionPseudonyms: Sendable {
    private static let label = Array("heliograph session pseudonym".utf8)

    private let code: HMACSHA256

    /// Derives the key of the pseudonyms from `SESSION_KEY`, so that no other HMAC under `SESSION_KEY` equals a pseudonym.
    public init(sessionKey: [UInt8]) {
        code = HMACSHA256(key: HMACSHA256.authenticate(Self.label, key: sessionKey))
    }

    /// Returns the pseudonym of a session: deterministic, in the format of a random UUID.
    public func id(of sessionID: UUID) -> UUID {
        UUID(hash: code.authenticate(Array(sessionID.wireString.utf8)))
    }
}
