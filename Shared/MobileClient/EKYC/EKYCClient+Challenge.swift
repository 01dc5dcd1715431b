public import Foundation

extension EKYCClient {
    /// The poses that the photos of one upload have to show, so that prints and copied photos do not pass.
    ///
    /// The app asks for it right before the camera opens, and shows the poses one after the other, each until its photo is taken.
    public struct Challenge: Sendable, Hashable, Decodable {
        /// The id, which the upload names.
        public let id: String
        /// The poses in the order in which the photos are taken and sent.
        public let poses: [Pose]
        /// When it ends, by the API's clock: the upload has to begin before. An upload that begins later ends as
        /// ``EKYCSession/Outcome/refused(_:)`` with `challenge_expired`.
        public let expiresAt: Date
        /// The remaining time when the API answered, for a countdown that does not depend on the device's clock.
        public internal(set) var validFor = Duration.zero

        enum CodingKeys: String, CodingKey {
            case id = "challenge_id"
            case poses
            case expiresAt = "expires_at"
        }
    }

    /// A pose of a challenge. A pose that this version does not know keeps its text.
    public struct Pose: RawRepresentable, Sendable, Hashable, Decodable {
        /// The pose as the API spells it, such as `nearer`.
        public let rawValue: String

        /// Creates a pose from the text of the API; any text is accepted.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Reads a single text; any is accepted.
        public init(from decoder: any Decoder) throws { rawValue = try decoder.singleValueContainer().decode(String.self) }

        /// The head is turned to the person's left.
        public static let left = Self(rawValue: "left")
        /// The head is turned to the person's right.
        public static let right = Self(rawValue: "right")
        /// The face is turned to the camera.
        public static let front = Self(rawValue: "front")
        /// The face is nearer to the camera than in the photo before.
        public static let nearer = Self(rawValue: "nearer")
    }

    /// The photos by which a sign-up answers a challenge, in addition to the photos of the face.
    public struct ChallengeAnswer: Sendable, Hashable {
        /// The challenge that the photos answer.
        public var challenge: Challenge
        /// One photo for each pose of the challenge, in their order.
        public var photos: [Photo]

        /// Creates an answer; `photos` has one photo for each pose of the challenge, in their order.
        public init(_ challenge: Challenge, photos: [Photo]) {
            self.challenge = challenge
            self.photos = photos
        }
    }

    /// Asks for a challenge for the next sign-up or sign-in. It is for one upload.
    ///
    /// - Throws: `rate_limited`, or why the API could not be asked.
    public func challenge() async throws(HeliographError) -> Challenge { try await manager.ports.sender.send(EKYCRequests.challenge()) }
}
