public import WireFormat

/// A bad photo of a session, with all its problems.
public struct PhotoProblems: Sendable, Equatable, Codable {
    /// The pose that it was uploaded as.
    public var pose: SessionPhoto.Pose
    /// Its number among the photos of its pose, in the order of the upload, counted from 0.
    public var index: Int
    /// Its problems; at least one.
    public var problems: [PhotoProblem]

    /// Describes a photo.
    public init(pose: SessionPhoto.Pose, index: Int, problems: [PhotoProblem]) {
        (self.pose, self.index, self.problems) = (pose, index, problems)
    }
}

extension SessionReason {
    /// Whether the photos of a session have this reason alone, whatever account they were sent for. Only with such a reason the bad photos
    /// are named: beside any other, names would tell that the photos were compared with an account's.
    public var isOfPhotosAlone: Bool {
        switch self {
        case .noFace, .multipleFaces, .faceTooSmall, .lowQuality, .invalidImage, .poseMismatch, .inconsistentFaces, .duplicateImages: true
        case .replayedImage, .livenessFailed, .noMatch, .alreadyEnrolled, .faceInUse, .timeout, .internal: false
        }
    }
}
