internal import FaceEngine
internal import WireFormat

/// The result of the check for a live person; nil where there was none.
typealias LivenessOutcome = LivenessDecision.Outcome

/// Decides whether the photos of a session show a live person, by all detectors that there are.
///
/// It sees these photos alone, and nothing of the account: its result may be shown whether the e-mail has an account or not.
struct LivenessCheck: Sendable {
    var detectors: [any PresentationAttackDetector] = [ChallengeDetector()]

    /// Returns the result: the first fault that a detector finds, else what one of them has proven.
    ///
    /// - Parameters:
    ///   - photos: The photos of the session, each with a usable face if it has a challenge.
    ///   - challenge: The poses of the challenge; nil for a session without one.
    /// - Returns: nil when nothing was proven, and no fault found.
    func callAsFunction(_ photos: [ExaminedPhoto], challenge: [LivenessPose]?) -> LivenessOutcome? {
        var result: LivenessOutcome?
        for detector in detectors {
            switch detector.judge(photos, challenge: challenge) {
            case .failed(let fault): return .failed(fault)
            case .passed: result = .passed
            case nil: continue
            }
        }
        return result
    }
}

extension LivenessCheck {
    /// Creates the check by the challenge of a session, and by the operator's model where there is one.
    init(passive model: PassiveModel?) {
        self.init()
        if let model { detectors.append(PassiveDetector(threshold: model.threshold)) }
    }
}

extension Liveness {
    /// The result as it is stored and sent: without the fault, which would help who tries to deceive the check.
    init(_ outcome: LivenessOutcome?) {
        switch outcome {
        case nil: self = .notPerformed
        case .passed: self = .passed
        case .failed: self = .failed
        }
    }
}
