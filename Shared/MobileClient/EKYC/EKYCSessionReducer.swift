internal import Foundation

/// Decides the steps of one sign-up or sign-in by face, from the photos to the one terminal event.
///
/// What is kept on the device (``Phase``) is written before the step that it stands for: the record before the upload, the session's token
/// before anything else is done with it, the mark ``Phase/signingIn(sessionID:userID:)`` before the tokens go to the credential store, the
/// outcome before it is reported; it stays until the app has acknowledged it. So a process that ends anywhere is followed by one that goes
/// on: an upload is repeated with its key, and a redemption with the session's token, which both get their first answer again. A push is
/// only a reason to ask. The secret is deleted with the outcome, or once the bad photos of a failed session cannot be retaken any more.
enum EKYCSessionReducer: Reducer {
    /// The stored state of a session. It survives the process.
    enum Phase: Hashable, Sendable {
        /// No data is stored yet.
        case new
        /// The photos may have been uploaded, once or several times with the same key.
        case uploading
        /// The API has the photos, and this device the session's token.
        case deciding(sessionID: UUID)
        /// The sign-in succeeded on a device that is new to the account: its tokens need the code that was mailed.
        case awaitingCode(sessionID: UUID, EKYCSession.AwaitedCode)
        /// The tokens of this user are being stored, or have been.
        case signingIn(sessionID: UUID, userID: String)
        /// The outcome is certain; the app has not acknowledged it.
        case ended(EKYCSession.Outcome)
        /// No data is stored any more.
        case removed
    }

    /// The current activity. It ends with the process.
    enum Activity: Hashable, Sendable {
        case idle
        case creating
        case posting
        case asking
        /// - Parameter code: The code that the person has entered.
        case redeeming(code: String?)
        /// The session was stopped while its tokens were being fetched: they must not be used.
        case redeemingInVain
        case storing(AccountTokens)
        case pausing(before: Next)
        /// The session has failed, and its token is kept: its bad photos can be retaken.
        case awaitingRetake
    }

    /// The step after a pause.
    enum Next: Hashable, Sendable {
        case post
        case ask
        case redeem(code: String?)
        case store(AccountTokens)
    }

    struct State: Hashable, Sendable {
        let kind: EKYCSession.Kind
        var phase: Phase
        var activity = Activity.idle
        /// Whether an upload may have started a session without this device having its answer.
        var mayHaveBegun = false
        /// Why the last upload started no session.
        var lastRefusal: Fault?
        /// Whether a push arrived while its question was being answered.
        var isWoken = false
        /// The code that was entered while another request for the tokens was under way.
        var enteredCode: String?
        /// How often the API is asked at intervals of three seconds before it is asked to hold its answers.
        var quickAsksLeft = 20
        /// Failed attempts in a row, for the pause after them; up to ``maxCountedFailures``.
        var failures = 0

        /// Whether no data is stored and no request is in progress. A stopped session may still get tokens, which have to be signed out.
        var isOver: Bool { phase == .removed && activity == .idle }
    }

    /// The time since the session was created.
    enum Age: Int, Hashable, Sendable {
        /// At most nine minutes: the API answers a repeated upload as it answered the first, for ten.
        case repeatable
        /// At most 24 hours: the API still knows the session.
        case known
        case over
    }

    /// The API's answer about a session.
    enum Verdict: Hashable, Sendable {
        case undecided
        case succeeded(awaiting: EKYCSession.AwaitedCode?)
        case failed(EKYCSession.Failure)
        case expired
    }

    enum Event: Hashable, Sendable {
        /// The app wants the session.
        case begin
        case bodyWritten
        case recordCreated
        case creationFailed(Fault)
        /// A new process found the session.
        /// - Parameter sessionID: The id with the session's token, where this device has it.
        case launched(Age, sessionID: UUID?)
        /// The person has entered a code.
        case codeEntered(String)
        /// The app has taken the outcome.
        case acknowledged
        case accepted(sessionID: UUID, token: String)
        case postFailed(Fault)
        case answered(Verdict)
        case askFailed(Fault)
        case redeemed(AccountTokens)
        /// - Parameter isSignedIn: Whether the credential store has a sign-in of the user of ``Phase/signingIn(sessionID:userID:)``.
        case redeemFailed(Fault, Age, isSignedIn: Bool)
        case stored
        case storingFailed(Age, isSignedIn: Bool)
        case pauseEnded(Age)
        /// A push about the session arrived, the app came to the foreground, or the network returned.
        case woken(Age)
        /// The session is to end with this outcome, unless it has one.
        case stop(EKYCSession.Outcome)
        /// No photo can be retaken any more: the time is over, a retake has begun, or another account signs in.
        case retakeClosed
    }

    enum Effect: Hashable, Sendable {
        case writeBody
        case createRecord
        /// Tells the caller that the session was not created.
        case refuseCreation(Fault)
        case post
        case saveToken(sessionID: UUID, token: String)
        case save(Phase)
        case deleteBody
        case ask(waitSeconds: Int)
        case redeem(code: String?)
        case store(AccountTokens)
        /// Signs out, at the API, tokens that must not be used.
        case discard(AccountTokens)
        case pause(milliseconds: Int)
        /// Ends the request or the pause that is under way.
        case cancel
        case show(EKYCSession.State)
        case deleteSecret
        /// The terminal event, once in a process.
        case report(EKYCSession.Outcome)
        /// Keeps the secret of a failed session until this time, by the device's clock.
        case awaitRetake(until: Date)
        case removeRecord
    }

    static let maxCountedFailures = 5
    /// The milliseconds for which a person is left waiting by an API that says when it will take photos; longer waits are an outcome.
    static let maxSilentWait = 60_000
    /// The milliseconds of ``Age/repeatable``.
    static let repetitionTime = 9 * 60_000
    /// The seconds for which photos can be retaken at most, whatever an answer or a clock that was set back says.
    static let maxRetakeTime = 3_600.0
}
