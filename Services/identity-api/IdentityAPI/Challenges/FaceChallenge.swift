internal import FoundationEssentials
internal import WireFormat

/// A challenge: the poses in which a person shows that there is a live face in front of the camera.
struct FaceChallenge: Sendable, Equatable {
    /// The time within which the upload that answers it has to begin.
    static let lifetime: TimeInterval = 90
    /// The time within which that upload has to be complete, from the end of ``lifetime``: more than a body may take
    /// (``ConnectionGuard/Limits/bodyDeadline``).
    static let maxUploadTime: TimeInterval = 10 * 60
    /// The time for which its use is remembered beyond that: clocks of different machines, and the transaction, take less.
    static let memoryMargin: TimeInterval = 10 * 60

    /// A random id, under which the use of the challenge is recorded.
    let id: UUID
    /// The poses in the order of the photos.
    let poses: [LivenessPose]
    /// The end, in whole seconds. A request that names the challenge must begin before it.
    let expiresAt: Date

    /// From when its use need not be remembered any more.
    var forgottenAt: Date { expiresAt + Self.maxUploadTime + Self.memoryMargin }

    /// Makes a challenge with random poses.
    ///
    /// - Parameter now: The time at which it begins.
    init(now: Date = Date()) {
        var generator = SystemRandomNumberGenerator()
        let expiresAt = (now.timeIntervalSince1970 + Self.lifetime).rounded(.up)
        self.init(id: UUID(), poses: Self.drawPoses(using: &generator), expiresAt: Date(timeIntervalSince1970: expiresAt))
    }

    init(id: UUID, poses: [LivenessPose], expiresAt: Date) {
        self.id = id
        self.poses = poses
        self.expiresAt = expiresAt
    }

    /// Draws one of the orders of three different poses in which the first is not `nearer`, which is relative to the photo before it; all
    /// of these are equally likely.
    static func drawPoses(using generator: inout some RandomNumberGenerator) -> [LivenessPose] {
        while true {
            let poses = Array(LivenessPose.allCases.shuffled(using: &generator).prefix(LivenessPose.countInChallenge))
            if poses.first != .nearer { return poses }
        }
    }
}
