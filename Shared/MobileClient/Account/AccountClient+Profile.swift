public import Foundation

extension AccountClient {
    /// The account as its owner sees it. What there is not is nil.
    public struct Profile: Sendable, Equatable, Decodable {
        /// The face for sign-ins to the account.
        public struct Face: Sendable, Equatable, Decodable {
            /// When the first face was enrolled.
            public let enrolledAt: Date
            /// When it was replaced last; nil for the first one.
            public let replacedAt: Date?
            /// The name of the model that recognises it.
            public let model: String?

            enum CodingKeys: String, CodingKey {
                case enrolledAt = "enrolled_at"
                case replacedAt = "replaced_at"
                case model
            }
        }

        /// The person's last consent.
        public struct GivenConsent: Sendable, Equatable, Decodable {
            /// The version of the text, as the sign-up named it.
            public let version: String
            /// SHA-256 of the text in hexadecimal.
            public let sha256: String
            /// When the person agreed.
            public let givenAt: Date

            enum CodingKeys: String, CodingKey {
                case version = "consent_version"
                case sha256 = "consent_sha256"
                case givenAt = "given_at"
            }
        }

        /// The id of the account.
        public let userID: UUID
        /// The proven e-mail address; nil for an account without one.
        public let email: String?
        /// The name that others see, such as in pushes of messages.
        public let displayName: String?
        /// When the account began.
        public let createdAt: Date
        /// The enrolled face; nil for an account without one.
        public let face: Face?
        /// When the face is replaced by a recovery, unless that is cancelled.
        public let recoveryTakesEffectAt: Date?
        /// The latest consent; nil without a consent.
        public let consent: GivenConsent?
        /// Other systems whose users may use this account, such as Firebase.
        public let identityProviders: [String]
        /// The number of registered devices, also of those that get no pushes any more.
        public let devices: Int
        /// The number of devices that are signed in.
        public let signIns: Int
        /// The number of events and conversations that the person is a member of.
        public let topics: Int

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case email, face, consent, devices, topics
            case displayName = "display_name"
            case createdAt = "created_at"
            case recoveryTakesEffectAt = "recovery_takes_effect_at"
            case identityProviders = "identity_providers"
            case signIns = "sessions"
        }
    }

    /// The name as the API keeps it.
    struct Name: Sendable, Equatable, Decodable {
        let userID: UUID
        let displayName: String?

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case displayName = "display_name"
        }
    }
}
