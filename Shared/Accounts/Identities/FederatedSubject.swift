public import HeliographCrypto

/// A person as an identity provider names them.
public struct FederatedSubject: Sendable, Equatable {
    /// The maximum length of ``subject``, in Unicode scalars.
    public static let maxSubjectLength = 128

    /// Whether a text has the length of a provider's id for a person.
    public static func isSubject(_ text: String) -> Bool { (1...maxSubjectLength).contains(text.unicodeScalars.count) }

    /// The provider, as tokens name it.
    public let issuer: String
    /// The provider's id for the person.
    public let subject: String

    /// Names a person by the provider's id for them and the provider's name; neither is checked.
    public init(_ subject: String, of issuer: String) {
        (self.issuer, self.subject) = (issuer, subject)
    }

    /// The issuer of the ID tokens of a Firebase project.
    public static func firebaseIssuer(ofProject id: String) -> String { "https://securetoken.google.com/\(id)" }

    /// The lookups by which the person's account is found: `identities.subject_lookup`.
    ///
    /// - Parameter keys: `LOOKUP_KEYS`.
    public func lookups(under keys: LookupKeys) -> [[UInt8]] { keys.lookups(of: "subject:\(issuer):\(subject)") }
}
