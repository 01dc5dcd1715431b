internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import JSON
internal import ServiceDefaults
internal import WireFormat

/// The statement that a person gets after an erasure: the numbers of erased records. It names no user.
struct ErasureReceipt: Sendable, Equatable {
    /// The address of the installation, `PUBLIC_URL`.
    let issuer: String
    let erasureID: UUID
    /// `account` or `face`.
    let scope: String
    /// SHA-256 of the 16 bytes of the account's id: a person who knows the id can see that the receipt is of it.
    let subjectHash: [UInt8]
    let requestedAt: Date
    let completedAt: Date
    /// The numbers of erased rows by table, of objects by folder and of events by stream, for each service.
    let erased: [String: [String: Int]]

    /// The claims: registered ones of RFC 7519 §4.1, where it has one, and `erasure`. The order is fixed, so that the same values give the
    /// same text.
    var claims: JSONValue {
        .members(
            ("iss", .string(issuer)), ("iat", .integer(Int(completedAt.timeIntervalSince1970))),
            ("jti", .string(erasureID.wireString)),
            (
                "erasure",
                .members(
                    ("scope", .string(scope)), ("subject_hash", .string(Hex.encode(subjectHash))),
                    ("requested_at", .string(Answer.timestamp(requestedAt))),
                    ("completed_at", .string(Answer.timestamp(completedAt))),
                    ("erased", Self.sorted(erased.mapValues { Self.sorted($0.mapValues(JSONValue.integer)) })))
            ))
    }

    /// Returns the receipt as a JSON Web Signature in compact form.
    func signed(by key: ErasureReceiptKey) throws(CryptoError) -> String { try key.sign(claims) }

    private static func sorted(_ members: [String: JSONValue]) -> JSONValue {
        .object(members.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value) })
    }
}
