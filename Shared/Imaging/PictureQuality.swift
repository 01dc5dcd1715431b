/// How much of a picture its owner wants back: the option `quality` of a job.
public enum PictureQuality: String, CaseIterable, Sendable, Codable {
    /// Up to 1,024 pixels a side, well compressed.
    case low
    /// Up to 2,048 pixels a side.
    case medium
    /// Up to 4,096 pixels a side, hardly compressed.
    case high

    /// Pixels the longer side of a result has at most, unless the job asks for a width or a height.
    public var maxSide: Int {
        switch self {
        case .low: 1_024
        case .medium: 2_048
        case .high: 4_096
        }
    }

    /// The quality of JPEG and WebP files, 1 to 100.
    var encoding: Int {
        switch self {
        case .low: 75
        case .medium: 85
        case .high: 92
        }
    }
}
