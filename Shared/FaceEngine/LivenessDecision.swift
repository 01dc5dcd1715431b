#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The pose of the head that a challenge asks for.
public enum ChallengePose: Sendable, Hashable, CaseIterable {
    /// Turned to one side.
    case left
    /// Turned to the other side.
    case right
    /// Straight on.
    case front
    /// Straight on, and nearer to the camera than in the other photos.
    case nearer
}

/// Decides whether three photos are answers of a living head to a challenge, one after the other before one camera.
///
/// It uses only the photos, so its result discloses nothing about the account. docs/MODELCARD.md has measurements of the attacks that it
/// stops, and of those that it does not.
public struct LivenessDecision: Sendable {
    /// The decision.
    public enum Outcome: Sendable, Equatable {
        /// No check found a fault.
        case passed
        /// A check found this fault.
        case failed(LivenessFault)
    }

    /// Degrees of turn up to which a head is frontal, and from which to ``maxTurn`` it is turned.
    static let frontLimit = 15.0
    static let minTurn = 15.0
    static let maxTurn = 48.0
    /// Minimum difference of turn between a turned head and a frontal one, in degrees.
    static let minTurnFromFront = 12.0
    /// Minimum size of the nearer face, as a multiple of the size of the largest other face.
    static let minNearerRatio = 1.2
    /// Minimum aspect of turned faces, as a share of the aspect of a real head at the same turn; the mean of all turned faces counts.
    ///
    /// A head at 20 degrees is narrower by the cosine, a sixteenth. A print has to be turned by 40 degrees or more before its nose looks
    /// like a turned head's, and is then narrower by a quarter.
    static let minAspect = 0.90
    /// Minimum share of the colours of the background that two photos have in common.
    static let minCommonBackground = 0.35
    /// Maximum difference of the brightness of the face, in powers of e.
    static let maxBrightnessDifference = 0.7
    /// Maximum difference of the colour of the light, in powers of e.
    static let maxCastDifference = 0.3

    /// Creates the rules of the decision.
    public init() {}

    /// Returns the decision.
    ///
    /// - Parameters:
    ///   - photos: The analyses of the photos, in the order in which the challenge asks for them.
    ///   - poses: The poses of the challenge.
    public func callAsFunction(_ photos: [PhotoAnalysis], poses: [ChallengePose]) -> Outcome {
        precondition(photos.count == poses.count, "a challenge has a photo for each pose")
        var faces: [FaceObservation] = []
        for photo in photos {
            guard case .usable(let face) = photo else { return .failed(.unusablePhoto) }
            faces.append(face)
        }
        let answers = Array(zip(poses, faces))
        guard showsPoses(answers) else { return .failed(.wrongPose) }
        guard isRound(answers) else { return .failed(.flat) }
        guard isContinuous(faces) else { return .failed(.changedScene) }
        return .passed
    }

    private func showsPoses(_ answers: [(pose: ChallengePose, face: FaceObservation)]) -> Bool {
        // Front cameras often save mirrored pictures, so which side is left is not prescribed: the two sides must differ.
        var side: Double?
        let frontal = answers.filter { $0.pose == .front || $0.pose == .nearer }
        for (pose, face) in answers {
            switch pose {
            case .front, .nearer:
                guard abs(face.yaw) <= Self.frontLimit else { return false }
            case .left, .right:
                guard (Self.minTurn...Self.maxTurn).contains(abs(face.yaw)) else { return false }
                guard frontal.allSatisfy({ abs(face.yaw - $0.face.yaw) >= Self.minTurnFromFront }) else { return false }
                let left = pose == .left ? face.yaw : -face.yaw
                guard (side ?? left) * left > 0 else { return false }
                side = left
            }
        }
        guard let nearer = answers.first(where: { $0.pose == .nearer }) else { return true }
        let others = answers.filter { $0.pose != .nearer }.map(\.face.presentation.size)
        return nearer.face.presentation.size >= Self.minNearerRatio * (others.max() ?? .infinity)
    }

    /// Returns whether turned faces are as wide as a turned head.
    private func isRound(_ answers: [(pose: ChallengePose, face: FaceObservation)]) -> Bool {
        let frontal = answers.filter { $0.pose == .front || $0.pose == .nearer }.map(\.face)
        let turned = answers.filter { $0.pose == .left || $0.pose == .right }.map(\.face)
        guard let front = frontal.min(by: { abs($0.yaw) < abs($1.yaw) }), !turned.isEmpty else { return false }
        let shares = turned.map { $0.presentation.aspect / (front.presentation.aspect * cos($0.yaw * .pi / 180)) }
        return shares.reduce(0, +) / Double(shares.count) >= Self.minAspect
    }

    /// Returns whether all photos were taken in one light and before one background.
    private func isContinuous(_ faces: [FaceObservation]) -> Bool {
        for (index, face) in faces.enumerated() {
            for other in faces[(index + 1)...] {
                let (one, two) = (face.presentation, other.presentation)
                if let common = one.commonBackground(with: two), common < Self.minCommonBackground { return false }
                if one.brightnessDifference(from: two) > Self.maxBrightnessDifference { return false }
                if one.castDifference(from: two) > Self.maxCastDifference { return false }
            }
        }
        return true
    }
}

/// The reason why the photos of a challenge do not count as photos of a living head. For metrics, not for the person, who may be an
/// attacker.
public enum LivenessFault: String, Sendable, CaseIterable {
    /// A photo has no usable face.
    case unusablePhoto = "unusable_photo"
    /// A head is not turned as the challenge asks.
    case wrongPose = "wrong_pose"
    /// The face is flat, as in a print or on a screen.
    case flat
    /// The light or the background changes from photo to photo.
    case changedScene = "changed_scene"
}
