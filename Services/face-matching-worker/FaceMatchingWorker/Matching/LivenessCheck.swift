internal import FaceEngine
internal import WireFormat

/// The result of the check for a live person; nil without a check.
typealias LivenessOutcome = LivenessDecision.Outcome

/// Checks whether the photos that answer a session's challenge show a live person.
///
/// Its only input is these photos. So its result may be shown: it does not disclose whether the e-mail has an account.
struct LivenessCheck: Sendable {
    /// Decides by the analyses of the photos.
    var decide: @Sendable (_ photos: [PhotoAnalysis], _ poses: [ChallengePose]) -> LivenessOutcome = { LivenessDecision()($0, poses: $1) }

    /// Returns the result.
    ///
    /// - Parameters:
    ///   - answer: The photos, in the order of the challenge's poses.
    ///   - poses: The poses of the challenge.
    func callAsFunction(_ answer: [ExaminedPhoto], to poses: [LivenessPose]) -> LivenessOutcome {
        guard answer.count == poses.count else { return .failed(.unusablePhoto) }
        return decide(answer.map(\.analysis), poses.map(ChallengePose.init))
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

extension Liveness {
    /// The stored and sent result: without the fault, which would help an attacker to deceive the check.
    init(_ outcome: LivenessOutcome?) {
        switch outcome {
        case nil: self = .notPerformed
        case .passed: self = .passed
        case .failed: self = .failed
        }
    }
}
