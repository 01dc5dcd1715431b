internal import Foundation

/// The record of a session in its ``PendingTask``. It contains no credential.
struct EKYCRecord: Codable, Hashable, Sendable {
    /// Who sends the photos.
    enum Sender: String, Codable, Sendable {
        /// The account that is signed in.
        case account
        /// The bearer of an enrolment token, which is a secret of the task.
        case enrolment
        /// The person or account that the form names.
        case form
    }

    let kind: EKYCSession.Kind
    let sender: Sender
    /// The boundary of the form in the task's file.
    let boundary: String
    /// The id on this device of the failed session whose bad photos are retaken; nil for an upload of all photos.
    let retakes: UUID?
    private var step: Step
    private var sessionID: UUID?
    private var userID: String?
    private var verificationID: UUID?
    private var reference: String?
    private var outcome: EKYCSession.Outcome.Kept?

    private enum Step: String, Codable {
        case uploading, deciding, awaitingCode, signingIn, ended
    }

    init(kind: EKYCSession.Kind, sender: Sender, boundary: String, retakes: UUID? = nil) {
        self.kind = kind
        self.sender = sender
        self.boundary = boundary
        self.retakes = retakes
        step = .uploading
    }

    /// How far the session has come. If the members of a record do not fit together, its session cannot continue.
    var phase: EKYCSessionReducer.Phase {
        get {
            switch (step, sessionID, userID, outcome?.outcome) {
            case (.uploading, _, _, _): .uploading
            case (.deciding, let id?, _, _): .deciding(sessionID: id)
            case (.awaitingCode, let id?, _, _):
                .awaitingCode(
                    sessionID: id, EKYCSession.AwaitedCode(verificationID: verificationID ?? id, reference: reference))
            case (.signingIn, let id?, let userID?, _): .signingIn(sessionID: id, userID: userID)
            case (.ended, _, _, let outcome?): .ended(outcome)
            default: .ended(.outcomeUnknown)
            }
        }
        set {
            switch newValue {
            case .new, .removed: break
            case .uploading: step = .uploading
            case .deciding(let id): (step, sessionID) = (.deciding, id)
            case .awaitingCode(let id, let awaited):
                (step, sessionID, verificationID, reference) = (.awaitingCode, id, awaited.verificationID, awaited.reference)
            case .signingIn(let id, let userID): (step, sessionID, self.userID) = (.signingIn, id, userID)
            case .ended(let outcome): (step, self.outcome) = (.ended, EKYCSession.Outcome.Kept(outcome))
            }
        }
    }
}

/// The secrets of a session, under one key of ``PendingSecrets``.
struct EKYCSecret: Codable, Hashable, Sendable {
    /// The token of a session, and the session's id. If a process ends before the record has the id, the next process needs both.
    struct Session: Codable, Hashable, Sendable {
        var id: UUID
        var token: String
    }

    /// The bearer of an enrolment, or the proof of a sign-in.
    var enrolmentToken: String?
    /// The session of this upload, once the API has the photos.
    var session: Session?
    /// The texts of the form that a retake of bad photos repeats: they are no secrets, but go with the rest.
    var texts: [String: String]?
    /// The failed session whose bad photos are retaken, until the API has the new ones.
    var retaken: Session?

    static let keyPrefix = "ekyc."

    static func key(of id: UUID) -> String { keyPrefix + id.wireText }

    /// Whether the upload is refused without it.
    var isNeeded: Bool { enrolmentToken != nil || retaken != nil }

    /// As ``PendingSecrets`` keeps it.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    init(enrolmentToken: String? = nil, session: Session? = nil, texts: [String: String]? = nil, retaken: Session? = nil) {
        self.enrolmentToken = enrolmentToken
        self.session = session
        self.texts = texts
        self.retaken = retaken
    }

    /// Empty for a text that ``text`` has not made.
    init(_ text: String?) {
        let kept = text.flatMap { try? JSONDecoder().decode(Self.self, from: Data($0.utf8)) }
        self = kept ?? EKYCSecret()
    }
}
