/// What a photo must have to be used. The numbers are measured: see the face reference of the design.
struct PhotoGates: Sendable {
    /// The smallest picture that is looked at, in pixels on its shorter side.
    static let minPictureSide = 240
    /// The share of its own size by which a face may go over the edge.
    static let maxCutOff = 0.15
    /// Above this, what looks like sharpness is noise.
    static let maxSharpness = 3.0
    /// The share of nearly white pixels a face may have.
    static let maxSaturated = 0.25
    /// The largest face is the one meant when it has this many times the area of the next …
    static let dominantArea = 4.0
    /// … and its centre is within this middle part of the picture.
    static let dominantCentre = 0.6

    /// The smallest face, in pixels of the working picture.
    let minFaceSide: Double
    /// The smallest distance of the eyes, in pixels of the photo as it came.
    let minEyeDistance: Double
    /// The least variance of the Laplacian over variance of grey, on the aligned face.
    let minSharpness: Double
    /// The range of mean grey levels of the aligned face.
    let brightness: ClosedRange<Double>
    /// The least standard deviation of grey levels.
    let minContrast: Double
    /// The greatest tilt, in degrees.
    let maxRoll: Double
    /// Whether a second look at a larger scale is taken for people in the background.
    let looksForBystanders: Bool

    /// The gates of a purpose.
    init(for purpose: PhotoPurpose) {
        switch purpose {
        case .signUp:
            (minFaceSide, minEyeDistance, minSharpness) = (100, 40, 0.010)
            (brightness, minContrast, maxRoll, looksForBystanders) = (40...205, 12, 25, true)
        case .signIn:
            (minFaceSide, minEyeDistance, minSharpness) = (80, 30, 0.003)
            (brightness, minContrast, maxRoll, looksForBystanders) = (20...215, 8, 30, false)
        }
    }

    /// Returns what is wrong with the picture of an aligned face.
    func fault(in measures: ChipMeasures) -> PhotoFault? {
        if measures.mean < brightness.lowerBound { return .tooDark }
        if measures.mean > brightness.upperBound || measures.saturated > Self.maxSaturated { return .tooBright }
        if measures.deviation < minContrast { return .lowContrast }
        if measures.sharpness < minSharpness { return .tooBlurry }
        if measures.sharpness > Self.maxSharpness { return .tooNoisy }
        return nil
    }
}

/// What an aligned face looks like; grey levels are 0 to 255.
struct ChipMeasures: Sendable, Equatable {
    var mean: Double
    var deviation: Double
    var sharpness: Double
    var saturated: Double
}
