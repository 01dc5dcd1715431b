import Foundation

@testable import MobileClient

/// One session with all that it meets: what the device keeps, the process, the API, and the person.
struct EKYCWorld: Hashable {
    typealias Machine = EKYCSessionReducer

    /// A request that is under way.
    struct Flight: Hashable {
        enum Kind: Hashable {
            case post, ask
            case redeem(code: String?)
        }
        let kind: Kind
        /// The API's answer, which is under way to the device.
        var answer: Machine.Event?

        var isOfTokens: Bool { if case .redeem = kind { true } else { false } }
    }

    enum Verdict: Hashable { case none, undecided, succeeded, failed, expired }

    // What the device keeps.
    var record: Machine.Phase?
    var hasSecret = false
    /// The secret has the token of the failed session whose photos are retaken.
    var hasRetakenToken = false
    var hasBody = false
    var hasCredentials = false

    // The process; nil when there is none.
    var state: Machine.State?
    var effects: [Machine.Effect] = []
    var flight: Flight?
    var isPausing = false
    var isAwaitingRetake = false

    // The API.
    var verdict = Verdict.none
    var sessionsBegun = 0
    var refusesContent = false
    /// Whether the upload answers a challenge, which ends at a time of its own.
    var hasChallenge = false
    var isChallengeOver = false
    /// The API has told this process that the challenge is over, and so that no session began.
    var isChallengeRefused = false
    var isRedeemed = false
    var isRefreshed = false
    var isRevoked = false
    var isTooLate = false
    /// A failure names photos that can be retaken for a time.
    var isRetakable = false
    var isRetakeOver = false
    /// The device is new to the account.
    var needsCode = false
    var isCodeMailed = false
    var isVerified = false
    var age = Machine.Age.repeatable

    // What else may happen, and how often.
    var passesTime = true
    var crashes: Int
    var losses: Int
    var refusals: Int
    var pushes: Int
    var stops = 1
    /// The codes that the person may still enter, right or wrong.
    var entries = 0
    /// How often another device may confirm or deny the sign-in.
    var confirmations = 0
    var storageFaults = 1

    // What happened.
    var isCreated = false
    var isCreationRefused = false
    var reports: [EKYCSession.Outcome] = []
    /// The process has reported the outcome.
    var hasReported = false
    /// The app is acknowledging the outcome.
    var isAcknowledging = false
    /// The app's acknowledgement is kept.
    var isAcknowledged = false
    var hasStored = false
    /// The person has begun to sign out, in whichever process.
    var hasSignedOut = false
    var isStopping = false
    var isStopped = false
    var isSuperseded = false
    var hasRequestDied = false
    /// The session retakes photos of another one.
    var isRetake = false
    /// The photos of the session are retaken by another one, or it was superseded after its end.
    var isRetaken = false
    var fault: String?

    var kind: EKYCSession.Kind
    static let id = UUID()
    /// A failure by one photo, which can be retaken.
    static let retakable = EKYCSession.Failure(
        .noFace, isRetryable: true, photos: [EKYCSession.BadPhoto(.faces, 1, [.noFace])], retakeUntil: Date(timeIntervalSince1970: 600))
    static let tokens = AccountTokens(accessToken: "a", refreshToken: "r", expiresIn: 3600, userID: "u")
    static let awaited = EKYCSession.AwaitedCode(verificationID: id, reference: "KFTM")
    static let verificationRequired = Machine.Fault(HeliographError(.verificationRequired, "", status: 403, awaitedCode: awaited))
    static let invalidCode = Machine.Fault(HeliographError(.invalidCode, "", status: 400, attemptsLeft: 4))
    static let unreachable = Machine.Fault(HeliographError(.unreachable, "", isRetryable: true))
    static func refusal(_ status: Int) -> Machine.Fault {
        let codes: [Int: HeliographError.Code] = [
            400: .invalidImage, 401: .unauthorized, 403: .forbidden, 404: .sessionNotFound, 409: .challengeExpired,
        ]
        return Machine.Fault(HeliographError(codes[status] ?? .overloaded, "", status: status))
    }

    init(_ kind: EKYCSession.Kind, crashes: Int, losses: Int, refusals: Int, pushes: Int) {
        self.kind = kind
        (self.crashes, self.losses, self.refusals, self.pushes) = (crashes, losses, refusals, pushes)
        state = Machine.State(kind: kind, phase: .new, quickAsksLeft: 1)
        send(.begin)
    }

    /// Whether nothing is left to do.
    var isOver: Bool { state.map { $0.phase == .removed && effects.isEmpty && flight == nil } ?? false }

    /// Goes on from the API's answer to the upload.
    mutating func skipUpload() {
        for event in [Machine.Event.bodyWritten, .recordCreated] { send(event) }
        (effects, record, hasBody, isCreated) = ([], .uploading, true, true)
        (verdict, sessionsBegun) = (.undecided, 1)
        send(.accepted(sessionID: Self.id, token: "t"))
    }

    mutating func send(_ event: Machine.Event) {
        guard var next = state else { return }
        // What is shown has no part in what must hold.
        effects += Machine.reduce(&next, event).filter { if case .show = $0 { false } else { true } }
        state = next
    }

    mutating func expect(_ condition: Bool, _ violation: String) {
        if !condition, fault == nil { fault = violation }
    }

    func with(_ change: (inout Self) -> Void) -> Self {
        var next = self
        change(&next)
        return next
    }
}
