public import FoundationEssentials
internal import WireFormat

/// The actor of an entry.
public enum AuditActor: Sendable, Equatable {
    /// A signed-in user.
    case user(UUID)
    /// An app's own backend, by the id of its credential.
    case service(String)
    /// A person with access to the installation's secrets, by the name they gave.
    case `operator`(String)
    /// One of our services, by its name.
    case system(String)
    /// A client that has proven nothing.
    case anonymous

    /// The column `actor_kind`.
    var kind: String {
        switch self {
        case .user: "user"
        case .service: "service"
        case .operator: "operator"
        case .system: "system"
        case .anonymous: "anonymous"
        }
    }

    /// The column `actor_id`, cut to the length of the column.
    var id: String? {
        switch self {
        case .user(let id): id.wireString
        case .service(let name), .operator(let name), .system(let name): name.isEmpty ? "unknown" : String(name.prefix(64))
        case .anonymous: nil
        }
    }
}

/// The actions that the audit log records. Names are stored, so a name is never changed or reused.
public enum AuditAction: String, Sendable, CaseIterable {
    /// A face was enrolled, or refused, for an account without one.
    case faceEnrolled = "face_enrolled"
    /// The face of an account was replaced, or the replacement refused.
    case faceReplaced = "face_replaced"
    /// The face of a sign-up seems to belong to another account.
    case faceDuplicateFound = "face_duplicate_found"
    /// An operator has decided that two accounts with the same face may stay as they are.
    case faceDuplicateResolved = "face_duplicate_resolved"
    /// An operator has asked the workers to reindex all faces.
    case faceReindexRequested = "face_reindex_requested"
    /// A mailed code was entered, which proves an e-mail address.
    case emailVerified = "email_verified"
    /// Another e-mail was named for an account; it counts once its code is entered.
    case emailChangeRequested = "email_change_requested"
    /// The e-mail of an account was changed.
    case emailChanged = "email_changed"
    /// The replacement of a face by e-mail has begun; it waits.
    case recoveryStarted = "recovery_started"
    /// The owner has cancelled it.
    case recoveryCancelled = "recovery_cancelled"
    /// It has taken effect.
    case recoveryCompleted = "recovery_completed"
    /// A face was compared with the face of an account.
    case faceCompared = "face_compared"
    /// The failed sign-ins of an account have used up a budget.
    case signInLocked = "sign_in_locked"
    /// A device got the tokens of a sign-in.
    case signedIn = "signed_in"
    /// A sign-in on a new device was confirmed on another device of the account.
    case signInConfirmed = "sign_in_confirmed"
    /// A sign-in on a new device was denied on another device of the account, and gives no tokens.
    case signInDenied = "sign_in_denied"
    /// A device has signed out.
    case signedOut = "signed_out"
    /// A sign-in was ended from elsewhere.
    case signInEnded = "sign_in_ended"
    /// All sign-ins of an account were ended, or all others.
    case signInsEnded = "sign_ins_ended"
    /// A refresh token was used after its successor: a copy of it exists.
    case refreshTokenReused = "refresh_token_reused"
    /// A token of a sign-in came with a proof of another key than the sign-in's: a copy of the token exists.
    case deviceKeyRefused = "device_key_refused"
    /// The name that others see was changed.
    case profileChanged = "profile_changed"
    /// The owner of an account has requested an export of its data.
    case accountExported = "account_exported"
    /// Everything that is kept of an account is to be erased.
    case accountErasureRequested = "account_erasure_requested"
    /// It is erased; the entry names the erasure, not the account.
    case accountErased = "account_erased"
    /// The face of an account is to be erased.
    case faceErasureRequested = "face_erasure_requested"
    /// It is erased.
    case faceErased = "face_erased"
    /// An operator has made an API key for an app's own server.
    case credentialCreated = "credential_created"
    /// An operator has revoked an API key.
    case credentialRevoked = "credential_revoked"
    /// An operator has written a template of pictures, which the detail names.
    case templateWritten = "template_written"
    /// An operator has deleted a template.
    case templateDeleted = "template_deleted"
    /// An operator has cancelled a scheduled notification of an app.
    case notificationCancelled = "notification_cancelled"
    /// An operator has read a user's report.
    case reportShown = "report_shown"
    /// An operator has closed a report.
    case reportClosed = "report_closed"
    /// An operator has looked at an account.
    case accountShown = "account_shown"
    /// An operator has read the e-mail of an account.
    case emailRevealed = "email_revealed"
    /// An operator has asked why an account gets, or does not get, pushes.
    case pushesExplained = "pushes_explained"
    /// An operator has looked at the failed sign-ins of an account.
    case lockShown = "lock_shown"
    /// An operator has let an account sign in again before its lock ended.
    case lockCleared = "lock_cleared"
    /// An operator has listed the sign-ins of an account.
    case signInsListed = "sign_ins_listed"
}

/// The result of an action.
public enum AuditResult: String, Sendable {
    case succeeded
    /// It was tried, and did not come out.
    case failed
    /// It was not allowed.
    case refused
}

/// A row to append to the audit log: ids and fixed words, never an e-mail, a name, a token or biometric data.
public struct AuditEntry: Sendable, Equatable {
    /// The action that was tried.
    public var action: AuditAction
    /// Whether the action succeeded, failed or was refused.
    public var result: AuditResult
    /// The person, app or service that acted.
    public var actor: AuditActor
    /// The account that it happened to.
    public var subjectID: UUID?
    /// The session, sign-in, installation or other thing that the action is about.
    public var objectID: UUID?
    /// The request that asked for it.
    public var requestID: String?
    /// A fixed word, such as the reason for a failure: 1 to 64 of `a-z 0-9 _ : . -`.
    public var detail: String?
    /// HMAC of the client's address (IPv6: its /64); 32 bytes.
    public var addressKey: [UInt8]?

    /// Describes an action.
    public init(
        _ action: AuditAction, _ result: AuditResult = .succeeded, by actor: AuditActor, on subjectID: UUID?, object objectID: UUID? = nil,
        requestID: String? = nil, detail: String? = nil, addressKey: [UInt8]? = nil
    ) {
        self.action = action
        self.result = result
        self.actor = actor
        self.subjectID = subjectID
        self.objectID = objectID
        self.requestID = requestID
        self.detail = detail
        self.addressKey = addressKey
    }
}
