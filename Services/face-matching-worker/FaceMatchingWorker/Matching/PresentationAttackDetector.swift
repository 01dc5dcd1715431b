internal import FaceEngine
internal import Storage
internal import WireFormat

/// A way to tell a live person from a presentation attack (a print, a screen or a mask before the camera) by the photos of a session.
protocol PresentationAttackDetector: Sendable {
    /// Judges the photos of a session.
    ///
    /// - Returns: nil when it has found no fault, and has proven nothing.
    func judge(_ photos: [ExaminedPhoto], challenge: [LivenessPose]?) -> LivenessOutcome?
}

/// Judges whether the photos that answer a challenge show the poses of it, and a head.
struct ChallengeDetector: PresentationAttackDetector {
    /// Decides by the analyses of the photos.
    var decide: @Sendable (_ photos: [PhotoAnalysis], _ poses: [ChallengePose]) -> LivenessOutcome = { LivenessDecision()($0, poses: $1) }

    func judge(_ photos: [ExaminedPhoto], challenge: [LivenessPose]?) -> LivenessOutcome? {
        guard let challenge else { return nil }
        // All photos of a sign-in; of a sign-up, those beside the ones of the template.
        let answer = photos.filter { $0.pose == .any || $0.pose == .challenge }
        guard answer.count == challenge.count else { return .failed(.unusablePhoto) }
        return decide(answer.map(\.analysis), challenge.map(ChallengePose.init))
    }
}

/// Refuses photos to which the operator's model gives a score below its threshold.
///
/// It proves nothing: that each photo seems to be one of a face does not show that a person was there, which only a challenge asks.
struct PassiveDetector: PresentationAttackDetector {
    /// The least score of a live face.
    let threshold: Float

    func judge(_ photos: [ExaminedPhoto], challenge: [LivenessPose]?) -> LivenessOutcome? {
        let verdicts = photos.compactMap { photo -> Bool? in
            // A photo without a usable face is neither compared nor enrolled.
            guard case .usable(let face) = photo.analysis else { return nil }
            return (face.liveScore ?? 0) >= threshold
        }
        FaceMatchingMetrics.judged(verdicts)
        return verdicts.contains(false) ? .failed(.presentationAttack) : nil
    }
}

extension ChallengePose {
    fileprivate init(_ pose: LivenessPose) {
        switch pose {
        case .left: self = .left
        case .right: self = .right
        case .front: self = .front
        case .nearer: self = .nearer
        }
    }
}
