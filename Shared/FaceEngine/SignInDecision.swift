/// Decides whether three photos show the person of a template.
///
/// The limits and their evidence are in ``FaceThresholds``.
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

    private let threshold: Float

    /// Creates the rules of the decision.
    ///
    /// - Precondition: The threshold is ``FaceThresholds/configurable``.
    public init(threshold: Float = FaceThresholds.standard) {
        precondition(FaceThresholds.configurable.contains(threshold), "the threshold is outside the calibrated range")
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
            case .rejected(let faults) where faults.first == .noFace: return .refused(.noFace)
            case .rejected(let faults) where faults.first == .multipleFaces: return .refused(.multipleFaces)
            case .rejected(let faults): firstFault = firstFault ?? faults.first
            }
        }
        guard faces.count >= 2 else { return .refused(firstFault.map { FaceRefusal($0) } ?? .lowQuality) }
        for (index, face) in faces.enumerated() {
            for other in faces[(index + 1)...] {
                if face.isCopy(of: other) { return .refused(.duplicateImages) }
                guard face.descriptor.distance(to: other.descriptor) <= FaceThresholds.maxSignInPair else {
                    return .refused(.inconsistentFaces)
                }
            }
        }
        return matches(faces.map { template.distance(to: $0.descriptor) }) ? .accepted : .refused(.noMatch)
    }

    /// Applies the rule: two photos and the mean are near enough, and no photo is far off. With two usable photos, both must be nearer.
    package func matches(_ distances: [Float]) -> Bool {
        guard distances.count >= 3 else {
            return distances.count == 2 && distances.allSatisfy { $0 <= threshold - FaceThresholds.meanSlack }
        }
        let near = distances.count { $0 <= threshold }
        let mean = distances.reduce(0, +) / Float(distances.count)
        return near >= 2 && mean <= threshold + FaceThresholds.meanSlack
            && (distances.max() ?? .infinity) <= threshold + FaceThresholds.farthestSlack
    }
}
