/// Decides whether three photos are of the person a template was made of.
///
/// At the standard threshold the rule made no error on the calibration sets (224 genuine and 8,288 foreign triples),
/// which bounds the false acceptance per pair of people at 0.2 % and no better.
public struct SignInDecision: Sendable {
    /// One of the three.
    public struct Photo: Sendable {
        /// The SHA-256 of the file.
        public let digest: [UInt8]
        /// What the engine made of it.
        public let analysis: PhotoAnalysis

        /// Makes a photo.
        public init(digest: [UInt8], analysis: PhotoAnalysis) {
            self.digest = digest
            self.analysis = analysis
        }
    }

    /// The decision. How near it was is not told to anybody: it would let a stranger improve a forgery step by step.
    public enum Outcome: Sendable, Equatable {
        /// It is the person.
        case accepted
        /// It is not, or it cannot be said.
        case refused(FaceRefusal)
    }

    /// The calibrated threshold.
    public static let standardThreshold: Float = 0.44
    /// Thresholds that can be configured; 0.6, which is common, takes a stranger for the person once in five on a
    /// homogeneous population.
    public static let thresholds: ClosedRange<Float> = 0.30...0.50

    /// The greatest distance of two photos of one sign-in (one person's reach 0.647).
    var maxPairDistance: Float = 0.66
    /// Two photos nearer than this are one photo.
    var duplicateDistance: Float = 0.03
    /// Two photos are mirror images of each other from this correlation on.
    var mirrorCorrelation: Float = 0.90
    private let threshold: Float

    /// Makes the decision's rules.
    ///
    /// - Precondition: The threshold is one of ``thresholds``.
    public init(threshold: Float = standardThreshold) {
        precondition(Self.thresholds.contains(threshold), "a threshold nobody calibrated")
        self.threshold = threshold
    }

    /// Decides.
    ///
    /// - Parameters:
    ///   - photos: The three.
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
            // Whoever sends a photo without a face, or with a second person, is told so at once; one photo that is merely
            // poor is made up for by two good ones.
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

    /// The rule: two near enough, the mean near enough, none far off. With two photos both must be nearer than that.
    func matches(_ distances: [Float]) -> Bool {
        guard distances.count >= 3 else {
            return distances.count == 2 && distances.allSatisfy { $0 <= threshold - 0.02 }
        }
        let near = distances.count { $0 <= threshold }
        let mean = distances.reduce(0, +) / Float(distances.count)
        return near >= 2 && mean <= threshold + 0.02 && (distances.max() ?? .infinity) <= threshold + 0.12
    }
}
