public import Foundation

extension AccountClient {
    /// The consent that a person has to give before a face is processed.
    public struct Consent: Sendable, Equatable {
        /// The API's answer: three of its members are present only if a consent is required.
        struct Answer: Decodable {
            let required: Bool
            let version: String?
            let sha256: String?
            let text: String?

            enum CodingKeys: String, CodingKey {
                case required, text
                case version = "consent_version"
                case sha256 = "consent_sha256"
            }

            var consent: Consent? {
                get throws {
                    guard required else { return nil }
                    guard let version, let sha256, let text else {
                        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The consent has no text or version"))
                    }
                    return Consent(version: version, sha256: sha256, text: text)
                }
            }
        }

        /// The version of the text, which a sign-up names.
        public let version: String
        /// SHA-256 of the text in UTF-8 in hexadecimal, as the API has it: the account's record will name this text by it.
        public let sha256: String
        /// The text to show.
        public let text: String
    }

    /// An e-mail address that waits for its code.
    public struct Verification: Sendable, Equatable, Codable {
        /// The id of the verification, with which the code is entered.
        public let id: UUID
        /// The reference beside the code in the mail, which may also have codes for requests of others: show it where the code is entered.
        public let reference: String
        /// Seconds within which the mail is sent, 0 when it was: an address gets its mails at intervals.
        public let mailAfter: Int
        /// Seconds after which the code ends: the code of the next mail, if a mail is planned.
        public let expiresIn: Int
        /// Seconds after which another mail can be asked for; after the fifth code, for another verification.
        public let resendAfter: Int

        enum CodingKeys: String, CodingKey {
            case id = "verification_id"
            case reference
            case mailAfter = "mail_after"
            case expiresIn = "expires_in"
            case resendAfter = "resend_after"
        }
    }

    /// The purpose of an entered code.
    public enum Verified: Sendable, Equatable, Decodable {
        /// A registration. The token is the bearer of a sign-up, for so many seconds.
        case registration(enrolmentToken: String, expiresIn: Int)
        /// A sign-up with an address that was not proven: the account begins now.
        case enrolment(userID: UUID)
        /// A change of the account's address, which counts from now on. Without a face, the account needs one to sign in by it: its first
        /// address removes a face from before.
        case emailChange(userID: UUID, isFaceEnrolled: Bool)
        /// A purpose that this version does not know.
        case other(purpose: String)

        enum CodingKeys: String, CodingKey {
            case purpose
            case token = "enrolment_token"
            case expiresIn = "expires_in"
            case userID = "user_id"
            case isFaceEnrolled = "face_enrolled"
        }

        /// Reads the API's answer; a purpose that this version does not know becomes `other`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            switch try container.decode(String.self, forKey: .purpose) {
            case "registration":
                self = .registration(
                    enrolmentToken: try container.decode(String.self, forKey: .token),
                    expiresIn: try container.decode(Int.self, forKey: .expiresIn))
            case "enrolment": self = .enrolment(userID: try container.decode(UUID.self, forKey: .userID))
            case "email_change":
                self = .emailChange(
                    userID: try container.decode(UUID.self, forKey: .userID),
                    isFaceEnrolled: try container.decode(Bool.self, forKey: .isFaceEnrolled))
            case let purpose: self = .other(purpose: purpose)
            }
        }
    }

    /// Whether the face of the account is about to be replaced.
    public struct Recovery: Sendable, Equatable, Decodable {
        /// Whether a recovery waits.
        public struct State: RawRepresentable, Hashable, Sendable, Codable {
            /// The state as the API spells it, such as `waiting`.
            public let rawValue: String

            /// Creates a state from the text of the API; any text is accepted.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// No recovery was started, or it was cancelled or has taken effect.
            public static let none = Self(rawValue: "none")
            /// A recovery was started and has not taken effect yet.
            public static let waiting = Self(rawValue: "waiting")
        }

        /// Whether a recovery of the account waits.
        public let state: State
        /// When the face is replaced, unless the recovery is cancelled.
        public let takesEffectAt: Date?

        enum CodingKeys: String, CodingKey {
            case state
            case takesEffectAt = "takes_effect_at"
        }
    }

    /// A device on which the account is signed in. What its app has not said about itself is nil.
    public struct SignIn: Sendable, Equatable, Identifiable, Decodable {
        /// The details of the app from its registration for pushes.
        public struct Device: Sendable, Equatable, Decodable {
            /// `ios`, `android` or `web`.
            public let platform: String?
            /// The app's own version.
            public let appVersion: String?
            /// A BCP 47 tag.
            public let locale: String?
            /// Where the key of the device is: `hardware` or `software`; nil for a sign-in without a key.
            public let key: String?

            enum CodingKeys: String, CodingKey {
                case platform, locale, key
                case appVersion = "app_version"
            }
        }

        /// The id of the sign-in, for ``AccountClient/endSignIn(_:)``.
        public let id: UUID
        /// The device, as its app has described it.
        public let device: Device
        /// When the device signed in.
        public let createdAt: Date
        /// The time of the sign-in or of its last refresh: the device may have used the account for up to an hour after it.
        public let lastUsedAt: Date
        /// When the sign-in ends, unless it is refreshed before.
        public let expiresAt: Date
        /// Whether it is the device that asks.
        public let isCurrent: Bool

        enum CodingKeys: String, CodingKey {
            case id = "session_id"
            case device
            case createdAt = "created_at"
            case lastUsedAt = "last_used_at"
            case expiresAt = "expires_at"
            case isCurrent = "current"
        }
    }
}
