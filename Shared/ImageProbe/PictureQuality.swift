/// The option `quality` of a job: the size and compression of the result.
public enum PictureQuality: String, CaseIterable, Sendable, Codable {
    /// Up to 1,024 pixels a side, strongly compressed.
    case low
    /// Up to 2,048 pixels a side.
    case medium
    /// Up to 4,096 pixels a side, lightly compressed.
    case high

    /// The quality of a job without a given quality.
    public static let usual = PictureQuality.medium

    /// The maximum longer side of a result in pixels, unless the job gives a width or a height.
    public var maxSide: Int {
        switch self {
        case .low: 1_024
        case .medium: 2_048
        case .high: 4_096
        }
    }
}
