/// The quality requirements for a photo. The numbers are measured: see the face reference of the design.
struct PhotoGates: Sendable {
    /// Minimum shorter side of a picture, in pixels.
    static let minPictureSide = 240
    /// Maximum share of a face's side that may lie beyond an edge of the photo.
    static let maxCutOff = 0.15
    /// Maximum sharpness; higher values are noise.
    static let maxSharpness = 2.2
    /// Maximum share of nearly white pixels of a face.
    static let maxSaturated = 0.25
    /// The largest face is dominant when its area is this multiple of the next one's …
    static let dominantArea = 4.0
    /// … and its centre is within this middle part of the picture.
    static let dominantCentre = 0.6

    /// Minimum side of a face, in pixels of the working picture.
    let minFaceSide: Double
    /// Minimum distance of the eyes, in pixels of the original photo.
    let minEyeDistance: Double
    /// Minimum sharpness of the aligned face: the variance of the Laplacian divided by the variance of the grey levels.
    let minSharpness: Double
    /// The range of mean grey levels of the aligned face.
    let brightness: ClosedRange<Double>
    /// Minimum standard deviation of grey levels.
    let minContrast: Double
    /// Maximum tilt, in degrees.
    let maxRoll: Double

    /// Creates the gates of a purpose.
    init(for purpose: PhotoPurpose) {
        switch purpose {
        case .signUp:
            (minFaceSide, minEyeDistance, minSharpness) = (100, 40, 0.034)
            (brightness, minContrast, maxRoll) = (40...205, 12, 25)
        case .signIn:
            (minFaceSide, minEyeDistance, minSharpness) = (80, 30, 0.009)
            (brightness, minContrast, maxRoll) = (20...215, 8, 30)
        }
    }

    /// Returns the fault of an aligned face; nil when it passes the gates.
    func fault(in measures: FaceMeasures) -> PhotoFault? {
        if measures.mean < brightness.lowerBound { return .tooDark }
        if measures.mean > brightness.upperBound || measures.saturated > Self.maxSaturated { return .tooBright }
        if measures.deviation < minContrast { return .lowContrast }
        if measures.sharpness < minSharpness { return .tooBlurry }
        if measures.sharpness > Self.maxSharpness { return .tooNoisy }
        return nil
    }
}

/// The measurements of an aligned face; grey levels are 0 to 255.
struct FaceMeasures: Sendable, Equatable {
    var mean: Double
    var deviation: Double
    var sharpness: Double
    var saturated: Double
}
