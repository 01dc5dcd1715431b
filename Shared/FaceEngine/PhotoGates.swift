internal import Imaging

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

    /// Returns the faults of the one face in a photo; none when it passes the gates. The first one decides the reason of a refusal.
    ///
    /// - Parameters:
    ///   - face: Nil when its landmarks are in one place.
    ///   - originalScale: The size of the original photo divided by that of `image`.
    func faults(of box: FaceBox, _ pose: HeadPose, _ face: AlignedFace?, in image: RGBImage, originalScale: Double) -> [PhotoFault] {
        var faults: [PhotoFault] = []
        if box.width < minFaceSide { faults.append(.faceTooSmall) }
        if box.cutOff(width: image.width, height: image.height) > Self.maxCutOff { faults.append(.faceCutOff) }
        if abs(pose.roll) > maxRoll { faults.append(.headTilted) }
        if pose.eyeDistance * originalScale < minEyeDistance, faults.first != .faceTooSmall { faults.append(.faceTooSmall) }
        guard let face else { return faults.isEmpty ? [.noFace] : faults }
        // What is outside the photo is black in the aligned face, and the enlargement of a few pixels is blurred.
        guard !faults.contains(.faceCutOff) else { return faults }
        let isSmall = faults.contains(.faceTooSmall)
        return faults + self.faults(in: face.measures).filter { !(isSmall && ($0 == .tooBlurry || $0 == .tooNoisy)) }
    }

    /// Returns the faults of an aligned face, those of the light first; none when it passes the gates.
    ///
    /// Too little contrast and noise are consequences of a wrong exposure, and no faults of their own then.
    func faults(in measures: FaceMeasures) -> [PhotoFault] {
        var faults: [PhotoFault] = []
        if measures.mean < brightness.lowerBound {
            faults.append(.tooDark)
        } else if measures.mean > brightness.upperBound || measures.saturated > Self.maxSaturated {
            faults.append(.tooBright)
        } else if measures.deviation < minContrast {
            faults.append(.lowContrast)
        }
        if measures.sharpness < minSharpness { faults.append(.tooBlurry) }
        if measures.sharpness > Self.maxSharpness, faults.isEmpty { faults.append(.tooNoisy) }
        return faults
    }
}

/// The measurements of an aligned face; grey levels are 0 to 255.
struct FaceMeasures: Sendable, Equatable {
    var mean: Double
    var deviation: Double
    var sharpness: Double
    var saturated: Double
}
