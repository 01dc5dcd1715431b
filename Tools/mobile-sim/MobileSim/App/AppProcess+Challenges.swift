internal import Foundation
internal import MobileClient
internal import Synchronization

/// How the person of a phone answers a challenge, as its ledger knows it.
enum ShownPoses: String, Sendable {
    /// Each photo shows its pose.
    case asAsked = "poses as asked"
    /// The photos show the poses, in another order.
    case inAnotherOrder = "poses in another order"
}

/// How the person shows the poses of a challenge.
extension AppProcess {
    /// Photos that answer a challenge.
    struct Presentation: Sendable {
        let challenge: EKYCClient.Challenge
        let photos: [EKYCClient.Photo]
        let poses: ShownPoses

        var answer: EKYCClient.ChallengeAnswer { EKYCClient.ChallengeAnswer(challenge, photos: photos) }
    }

    /// Asks for a challenge, for the share of sessions that answer one, and takes the photos.
    ///
    /// If a photo is accepted only once for an account, sign-ins do not answer challenges: the views of the poses come from a photo whose
    /// views the sign-up has already used.
    ///
    /// - Returns: nil for a session without a challenge; also when the API gives no challenge, or a challenge with a pose for which there
    ///   is no photo.
    func presentation(for kind: EKYCSession.Kind, _ mark: UUID?) async -> Presentation? {
        let scenario = phone.world.scenario
        guard scenario.acceptsCopies || kind == .signUp, phone.draw({ $0.chance(scenario.challenges) }) else { return nil }
        let challenge = await attempt("challenge") { () async throws(HeliographError) in try await client.ekyc.challenge() }
        guard await incarnation.pass(.step), let challenge else { return nil }
        let isWrong = !phone.memory.withLock({ $0.hasShownWrongPoses }) && phone.draw { $0.chance(scenario.wrongPoses) }
        // A head is turned where the challenge does not ask for it, or the other way round. Swapped sides alone could come from a camera
        // that mirrors.
        let shown = isWrong ? Array(challenge.poses.dropFirst() + challenge.poses.prefix(1)) : challenge.poses
        guard let photos = phone.world.photos.answer(shown, mark) else { return nil }
        if isWrong { phone.memory.withLock { $0.hasShownWrongPoses = true } }
        return Presentation(challenge: challenge, photos: photos, poses: isWrong ? .inAnotherOrder : .asAsked)
    }

    /// The result of the check for a live person, as an outcome tells it; nil for one without a result.
    ///
    /// A session that answers a challenge succeeds only where the check has found no fault.
    static func liveness(_ outcome: EKYCSession.Outcome) -> EKYCSession.Liveness? {
        switch outcome {
        case .enrolled, .signedIn: .passed
        case .failed(let failure): failure.liveness
        case .expired, .tooLate, .refused, .outcomeUnknown, .superseded, .signedOut: nil
        }
    }
}
