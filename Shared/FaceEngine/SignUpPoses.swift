/// The turns of the heads of a sign-up's photos.
///
/// Front cameras often save mirrored pictures, and "left" is the person's left in one app and the picture's left in another. So the
/// sign is not prescribed: all photos of one side must have the same sign, and all photos of the other side the opposite sign.
struct SignUpPoses {
    /// Degrees of turn up to which a head is frontal, and from which to ``maxTurn`` it is turned.
    static let frontLimit = 12.0
    /// Maximum turn in degrees; beyond it too little of the face is visible.
    static let maxTurn = 45.0
    /// Tolerance of a measured turn, in degrees.
    static let tolerance = 3.0

    private static let minTurned = frontLimit - tolerance
    private static let maxTurned = maxTurn + tolerance

    /// Whether the camera mirrors its pictures, as most turned photos say.
    let isMirrored: Bool

    /// Reads which side is left from photos.
    init(_ photos: [(pose: FacePose, yaw: Double)]) {
        let turned = photos.filter { $0.pose != .front && abs($0.yaw) >= Self.minTurned }
        let plain = turned.count { ($0.pose == .left) == ($0.yaw < 0) }
        isMirrored = plain < turned.count - plain
    }

    /// Returns the faults of a head with this turn in a photo of this pose; none when it is turned as requested.
    func faults(of yaw: Double, in pose: FacePose) -> [PhotoFault] {
        guard pose != .front else { return abs(yaw) > Self.frontLimit + Self.tolerance ? [.turnedTooFar] : [] }
        guard abs(yaw) >= Self.minTurned else { return [.turnedTooLittle] }
        let isPlain = (pose == .left) == (yaw < 0)
        return (isPlain == isMirrored ? [.turnedWrongWay] : []) + (abs(yaw) > Self.maxTurned ? [.turnedTooFar] : [])
    }
}
