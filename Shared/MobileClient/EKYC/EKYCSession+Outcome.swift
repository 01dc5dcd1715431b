public import Foundation

extension EKYCSession {
    /// The purpose of a session.
    public enum Kind: String, Sendable, Codable {
        /// Enrols a face: of a new account, or in place of the account's former one.
        case signUp = "sign_up"
        /// Signs the device in to an account by its face.
        case signIn = "sign_in"
    }

    /// The present step of a session, for the app to show.
    public enum State: Sendable, Hashable {
        /// The photos are being uploaded, or wait for a connection to be uploaded again.
        case uploading
        /// The API has the photos, and examines them.
        case examining(sessionID: UUID)
        /// The face was recognised; the tokens are being fetched and stored.
        case signingIn(sessionID: UUID)
        /// The face was recognised on a device that is new to the account. The person enters the code that was mailed to the account's
        /// address (``EKYCSession/enter(code:)``), beside the reference; `AccountClient.resendCode(of:)` asks for another mail. Or they
        /// type the reference on a device that is signed in (``AccountClient/confirmSignIn(_:reference:)``): no code is needed then.
        ///
        /// `attemptsLeft` is nil before a code was entered. With 0 only the code of another mail counts.
        case awaitingCode(sessionID: UUID, AwaitedCode, attemptsLeft: Int?)
        /// The session has ended. No other state follows.
        case ended(Outcome)

        /// Whether no other state follows.
        public var isTerminal: Bool { if case .ended = self { true } else { false } }
    }

    /// How a session ended.
    public enum Outcome: Sendable {
        /// The face was enrolled. The face of a recovery takes effect after 24 hours, unless the account's owner cancels it.
        ///
        /// If it awaits a code, it has no effect before the mailed code is entered (``AccountClient/verify(_:code:)``), within 24 hours.
        /// That is the case for a sign-up with an e-mail address alone.
        case enrolled(awaiting: AwaitedCode?)
        /// The face was recognised, and the tokens of this user are in the credential store.
        case signedIn(userID: String)
        /// The face was not enrolled or recognised.
        case failed(Failure)
        /// The API did not decide in time. Another session may succeed.
        case expired
        /// The face was recognised, but the tokens were fetched too late: after more than five minutes, or when all of the account's
        /// sign-ins had been ended. Or the device lost its key meanwhile, or the credential store did not take the tokens for a day.
        /// Another sign-in is needed.
        case tooLate
        /// The API refused the photos or their sender; no session was started. ``HeliographError/retryAfter`` says when another may be.
        case refused(HeliographError)
        /// The photos may have reached the API, but its answer did not reach this device. Another session may succeed; after a sign-up it
        /// may fail with ``Reason/alreadyEnrolled``, which then means that this session had succeeded.
        case outcomeUnknown
        /// Another sign-in was started on this device, or another account was signed in to.
        case superseded
        /// The account was signed out on this device. It needs no acknowledgement.
        case signedOut
    }

    /// The code that a sign-up, or a sign-in on a new device, waits for.
    public struct AwaitedCode: Sendable, Hashable {
        /// The id of the verification, with which the code is entered.
        public let verificationID: UUID
        /// The reference beside the code in the mail, which may also have codes for requests of others: show it where the code is entered.
        public let reference: String?

        /// Names the verification whose code a session waits for, and the reference of its mail.
        public init(verificationID: UUID, reference: String?) {
            self.verificationID = verificationID
            self.reference = reference
        }
    }

    /// Why a face was not enrolled or recognised.
    public struct Failure: Sendable, Hashable {
        /// The API's reason, which decides what the app asks the person to do.
        public let reason: Reason
        /// Whether another attempt with other photos may have another result at once: false with 0 ``attemptsLeft``.
        public let isRetryable: Bool
        /// The attempts that are left before the account is locked for a time; nil where the API does not say.
        public let attemptsLeft: Int?
        /// When the account is not locked any more; nil where it is not.
        public let retryAt: Date?
        /// The result of the check for a live person.
        public let liveness: Liveness
        /// The bad photos with their problems; empty where the photos are not the reason, or the API does not name them.
        public let photos: [BadPhoto]
        /// The time by the device's clock until which ``photos`` alone can be taken again (``EKYCClient/retake(_:of:)``); nil where another
        /// attempt needs all photos.
        public let retakeUntil: Date?

        /// Creates a failure from the parts of the API's answer about a session.
        public init(
            _ reason: Reason, isRetryable: Bool, attemptsLeft: Int? = nil, retryAt: Date? = nil, liveness: Liveness = .notPerformed,
            photos: [BadPhoto] = [], retakeUntil: Date? = nil
        ) {
            self.reason = reason
            self.isRetryable = isRetryable
            self.attemptsLeft = attemptsLeft
            self.retryAt = retryAt
            self.liveness = liveness
            self.photos = photos
            self.retakeUntil = retakeUntil
        }
    }

    /// Whether the photos that answer a challenge show a live person who followed it.
    ///
    /// A result that this version does not know keeps its text. A session with a challenge succeeds only where it is ``passed``.
    public struct Liveness: RawRepresentable, Sendable, Hashable {
        /// The result as the API spells it, such as `not_performed`.
        public let rawValue: String

        /// Creates a result from the text of the API; any text is accepted.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No check found a fault.
        public static let passed = Self(rawValue: "passed")
        /// The photos do not answer the challenge: the reason is ``Reason/livenessFailed``.
        public static let failed = Self(rawValue: "failed")
        /// There was no challenge, or the photos were refused before the check.
        public static let notPerformed = Self(rawValue: "not_performed")
    }

    /// The API's reason for a failure. A reason that this version does not know keeps its text.
    public struct Reason: RawRepresentable, Sendable, Hashable {
        /// The reason as the API spells it, such as `no_face`.
        public let rawValue: String

        /// Creates a reason from the text of the API; any text is accepted.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No face is seen in a photo.
        public static let noFace = Self(rawValue: "no_face")
        /// A photo has a second face.
        public static let multipleFaces = Self(rawValue: "multiple_faces")
        /// The face is too small in a photo: it has to come nearer to the camera.
        public static let faceTooSmall = Self(rawValue: "face_too_small")
        /// A photo is blurred, dark, bright or cut off.
        public static let lowQuality = Self(rawValue: "low_quality")
        /// A photo cannot be decoded: send it in another format, such as JPEG.
        public static let invalidImage = Self(rawValue: "invalid_image")
        /// A photo does not show the side that it was given for.
        public static let poseMismatch = Self(rawValue: "pose_mismatch")
        /// The photos do not show the same person.
        public static let inconsistentFaces = Self(rawValue: "inconsistent_faces")
        /// A photo was given twice.
        public static let duplicateImages = Self(rawValue: "duplicate_images")
        /// A photo was used before.
        public static let replayedImage = Self(rawValue: "replayed_image")
        /// The photos that answer a challenge do not show a live person who followed it. Another attempt asks for another challenge.
        public static let livenessFailed = Self(rawValue: "liveness_failed")
        /// The face is not the account's face, or there is no such account: the API does not tell which.
        public static let noMatch = Self(rawValue: "no_match")
        /// The e-mail address has an account: sign in, or recover it.
        public static let alreadyEnrolled = Self(rawValue: "already_enrolled")
        /// Another account has the face, and the operator allows one account a face.
        public static let faceInUse = Self(rawValue: "face_in_use")
        /// The photos were not examined in time; they may be sent again.
        public static let timeout = Self(rawValue: "timeout")
        /// The API has failed; the photos may be sent again later.
        public static let `internal` = Self(rawValue: "internal")
    }
}

extension EKYCSession.Outcome {
    /// Whether another attempt needs another challenge (``EKYCClient/challenge()``), with photos that are taken for it: if the API requires
    /// a challenge, or if this attempt's challenge had ended, was used, or was not followed.
    public var asksForChallenge: Bool {
        switch self {
        case .refused(let error):
            [.challengeRequired, .challengeInvalid, .challengeExpired, .challengeUsed].contains(error.code)
        case .failed(let failure): failure.reason == .livenessFailed
        case .enrolled, .signedIn, .expired, .tooLate, .outcomeUnknown, .superseded, .signedOut: false
        }
    }
}

extension EKYCSession.Outcome: Hashable {
    /// Hashes the case and its value; of an error the code alone.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .enrolled(let awaited): hasher.combine(awaited)
        case .signedIn(let userID): hasher.combine(userID)
        case .failed(let failure): hasher.combine(failure)
        case .refused(let error): hasher.combine(error.code)
        case .expired: hasher.combine(1)
        case .tooLate: hasher.combine(2)
        case .outcomeUnknown: hasher.combine(3)
        case .superseded: hasher.combine(4)
        case .signedOut: hasher.combine(5)
        }
    }
}
