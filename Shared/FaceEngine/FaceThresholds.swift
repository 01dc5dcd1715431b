/// The calibrated limits of distances between faces, all in one place.
///
/// It is the distance between two unit vectors of SFace: 0 for the same picture, 2 for opposite vectors, mostly under 0.9 between photos of
/// one person and over 1.2 between photos of two people. The evidence, with its bounds, is in docs/MODELCARD.md.
public enum FaceThresholds {
    // MARK: Sign-in

    /// Distance of a photo from a template up to which it counts as near; for services where a false acceptance is expensive.
    public static let strict: Float = 0.95
    /// The default: with two photos of a pose in a template, 1 of 1,145 genuine triples is refused, and none of 38,440 impostors' accepted.
    public static let standard: Float = 1.00
    /// For services where a false refusal is expensive.
    public static let lenient: Float = 1.04
    /// The range that can be configured. SFace's published limit for two photos, 1.13, falsely accepts up to 0.9 % of single pairs.
    public static let configurable: ClosedRange<Float> = 0.80...1.09

    /// The amount by which the mean of three photos may exceed the threshold …
    static let meanSlack: Float = 0.04
    /// … and the amount for the farthest photo. With two usable photos, both must be nearer by ``meanSlack``.
    static let farthestSlack: Float = 0.22
    /// Maximum distance between two photos of one sign-in.
    static let maxSignInPair: Float = 1.25

    // MARK: Sign-up

    /// Maximum distance of a photo from the mean of the others; 0 to 4 % of honest enrolments lose a photo by it, and a stranger's photo is
    /// farther in 98 % of cases and more.
    static let maxOutlier: Float = 1.06
    /// Maximum distance between any two photos.
    static let maxSignUpPair: Float = 1.25

    /// Maximum distance of the means of two templates of one person: of 2,775 pairs of people, no pair is nearer than 0.97. That bounds
    /// false matches at 0.13 % a pair. This is not enough for a million accounts, so an operator reviews the pairs.
    public static let duplicate: Float = 0.80

    // MARK: Copies

    /// Distance below which two photos count as the same photo. The nearest different ones are 0.14 apart.
    static let copy: Float = 0.12
    /// Correlation of signatures above which two photos count as mirror images of each other …
    static let mirrorCorrelation: Float = 0.90
    /// … when their distance is below this. Of pairs of one person's photos, 0.2 % are taken for mirror images.
    static let maxMirrorDistance: Float = 0.42
}
