/// The refusals of FCM itself.
public enum FCMFault: String, Sendable, CaseIterable {
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    /// The topic's quota, not the project's.
    case topicQuotaExceeded = "TOPIC_QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case `internal` = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    /// A 401 without an `FcmError` detail: the caller's access token is refused.
    case unauthenticated = "UNAUTHENTICATED"
    /// The service account may not send.
    case permissionDenied = "PERMISSION_DENIED"
    /// FCM is not enabled in the project.
    case serviceDisabled = "SERVICE_DISABLED"

    func refusal(project: String) -> FCMRefusal {
        switch self {
        case .invalidArgument: .badToken
        case .unregistered: .unregistered
        case .senderIDMismatch: .senderMismatch
        case .quotaExceeded: .quotaExceeded
        case .topicQuotaExceeded: .topicQuotaExceeded
        case .unavailable: .unavailable
        case .internal: .internalError
        case .thirdPartyAuthError: .thirdPartyAuth
        case .unauthenticated: .credentialsInvalid
        case .permissionDenied: .permissionDenied(project: project)
        case .serviceDisabled: .serviceDisabled(project: project)
        }
    }

    /// The fault a bare HTTP status stands for.
    init?(status: Int) {
        switch status {
        case 400: self = .invalidArgument
        case 401: self = .unauthenticated
        case 403: self = .senderIDMismatch
        case 404: self = .unregistered
        case 429: self = .quotaExceeded
        case 500: self = .internal
        case 503: self = .unavailable
        default: return nil
        }
    }
}
