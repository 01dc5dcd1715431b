extension Phone {
    /// A challenge as the API issued it.
    public struct Challenge: Sendable {
        /// The id, which the upload names.
        public let id: String
        /// The three poses, in the order in which their photos are sent.
        public let poses: [String]
    }

    /// The photos by which an upload answers a challenge.
    public struct ChallengeAnswer: Sendable {
        /// The id of the challenge that the photos answer.
        public let id: String
        /// The files of the photos, one for each pose.
        public let photos: [[UInt8]]

        /// Answers a challenge by views of person A in its poses or, as one who does not follow it, in others.
        public init(_ challenge: Challenge, showing poses: [String]? = nil) throws {
            self.init(challenge, photos: try Photos.answer(poses ?? challenge.poses))
        }

        /// Answers a challenge by files that the test has chosen.
        public init(_ challenge: Challenge, photos: [[UInt8]]) {
            (id, self.photos) = (challenge.id, photos)
        }
    }

    /// Asks for a challenge.
    public func challenge() async throws -> Challenge {
        let answer = try await post("/v1/ekyc/challenges")
        guard let id = answer.body["data"]["challenge_id"].text else {
            throw DeadlineExceeded(description: "no challenge: \(answer.status) \(answer.body)")
        }
        return Challenge(id: id, poses: answer.body["data"]["poses"].elements.compactMap(\.text))
    }
}

extension Photos {
    /// Returns views of person A in the poses of a challenge, none of the nine of a sign-up, as files that were not sent before.
    public static func answer(_ poses: [String]) throws -> [[UInt8]] { try variants(of: poses.map { "person-a/challenge-\($0)" }) }
}
