/// A pose that a challenge asks for: one of the photos that show whether a live person is in front of the camera.
public enum LivenessPose: String, Sendable, CaseIterable {
    /// The head is turned to the person's left.
    case left
    /// The head is turned to the person's right.
    case right
    /// The face is turned to the camera.
    case front
    /// The face is nearer to the camera than in the photo before it.
    case nearer

    /// The number of poses of a challenge.
    public static let countInChallenge = 3
}
