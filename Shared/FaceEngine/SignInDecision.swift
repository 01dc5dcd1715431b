/// Decides whether three photos show the person of a template.
///
/// At the standard threshold the rule made no error on the calibration sets (224 genuine and 8,288 impostor triples),
/// which bounds the false acceptance per pair of people at 0.2 % and no better.
public struct SignInDecision: Sendable {
    /// One of the three photos.
    public struct Photo: Sendable {
        /// The SHA-256 of the file.
        public let digest: [UInt8]
        /// The engine's analysis of it.
        public let analysis: PhotoAnalysis

        /// Creates a photo.
        public init(digest: [UInt8], analysis: PhotoAnalysis) {
            self.digest = digest
            self.analysis = analysis
        }
    }

    /// The decision. It does not contain the distance, with which an attacker could improve a forgery step by step.
    public enum Outcome: Sendable, Equatable {
        /// The photos show the person.
        case accepted
        /// The photos show another person, or cannot be judged.
        case refused(FaceRefusal)
    }

    /// The calibrated threshold.
    public static let standardThreshold: Float = 0.44
    /// Thresholds that can be configured. The common value 0.6 falsely accepts one in five impostors in a homogeneous
    /// population.
    public static let thresholds: ClosedRange<Float> = 0.30...0.50

    /// Maximum distance between two photos of one sign-in (photos of one person reach 0.647).
    var maxPairDistance: Float = 0.66
    /// Distance below which two photos count as the same photo.
    var duplicateDistance: Float = 0.03
    /// Correlation above which two photos count as mirror images of each other.
    var mirrorCorrelation: Float = 0.90
    private let threshold: Float

    /// Creates the rules of the decision.
    ///
    /// - Precondition: The threshold is one of ``thresholds``.
    public init(threshold: Float = standardThreshold) {
        precondition(Self.thresholds.contains(threshold), "the threshold is outside the calibrated range")
        self.threshold = threshold
    }

    /// Returns the decision.
    ///
    /// - Parameters:
    ///   - photos: The three photos.
    ///   - template: The account's template.
    ///   - isReplay: Whether the account has sent one of these files before, in any earlier request.
    public func callAsFunction(_ photos: [Photo], template: EnrolledFace, isReplay: Bool) -> Outcome {
        guard Set(photos.map(\.digest)).count == photos.count else { return .refused(.duplicateImages) }
        guard !isReplay else { return .refused(.replayedImage) }
        var faces: [FaceObservation] = []
        var firstFault: PhotoFault?
        for photo in photos {
            switch photo.analysis {
            case .usable(let face): faces.append(face)
            // A photo without a face, or with a second person, is refused at once; one photo of poor quality is tolerated
            // if the other two are good.
            case .rejected(.noFace): return .refused(.noFace)
            case .rejected(.multipleFaces): return .refused(.multipleFaces)
            case .rejected(let fault): firstFault = firstFault ?? fault
            }
        }
        guard faces.count >= 2 else { return .refused(firstFault.map { FaceRefusal($0) } ?? .lowQuality) }
        for (index, face) in faces.enumerated() {
            for other in faces[(index + 1)...] {
                let distance = face.descriptor.distance(to: other.descriptor)
                if distance < duplicateDistance { return .refused(.duplicateImages) }
                if face.signature.mirrorCorrelation(with: other.signature) > mirrorCorrelation {
                    return .refused(.duplicateImages)
                }
                if distance > maxPairDistance { return .refused(.inconsistentFaces) }
            }
        }
        return matches(faces.map { template.distance(to: $0.descriptor) }) ? .accepted : .refused(.noMatch)
    }

    /// Applies the rule: two photos and the mean are near enough, and none is far off. Of two usable photos, both must be nearer.
    func matches(_ distances: [Float]) -> Bool {
        guard distances.count >= 3 else {
            return distances.count == 2 && distances.allSatisfy { $0 <= threshold - 0.02 }
        }
        let near = distances.count { $0 <= threshold }
        let mean = distances.reduce(0, +) / Float(distances.count)
        return near >= 2 && mean <= threshold + 0.02 && (distances.max() ?? .infinity) <= threshold + 0.12
    }
}
