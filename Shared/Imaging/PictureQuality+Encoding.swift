internal import ImageProbe

extension PictureQuality {
    /// The quality of JPEG and WebP files, 1 to 100.
    var encoding: Int {
        switch self {
        case .low: 75
        case .medium: 85
        case .high: 92
        }
    }
}
