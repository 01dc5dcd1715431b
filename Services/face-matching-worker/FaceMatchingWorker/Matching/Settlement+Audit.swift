internal import Accounts
internal import WireFormat

extension Settlement {
    /// Describes the decision of a session. A sign-up that succeeds without an account waits for the verification of its e-mail.
    func auditEntry(of session: Session) -> AuditEntry {
        let action: AuditAction =
            switch session.event {
            case .signUp: session.authorised ? .faceReplaced : .faceEnrolled
            case .signIn: .faceCompared
            }
        var entry = AuditEntry(
            action, by: session.authorised ? .user(session.userID) : .anonymous, on: account ?? session.userID, object: session.id,
            requestID: session.requestID, addressKey: session.origin.addressKey)
        switch outcome {
        case .failed(let reason): (entry.result, entry.detail) = (.failed, reason.rawValue)
        case .succeeded where session.isRecovery: entry.detail = "awaits_recovery"
        case .succeeded where account == nil: entry.detail = "awaits_verification"
        case .succeeded: break
        }
        return entry
    }
}
