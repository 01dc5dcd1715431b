internal import HTTPTypes

/// Every error of the API: its name, its number and its HTTP status.
///
/// Names and numbers are published: apps depend on them, so none is ever changed or reused. 1000s are faults of the input, 1100s of
/// credentials and the resources they give access to, 1200s limits, 1300s idempotency, 1500s faults of the server.
enum ErrorCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case missingField = "missing_field"
    case invalidImage = "invalid_image"
    case invalidPhotoCount = "invalid_photo_count"
    case invalidEmail = "invalid_email"
    case templateNotFound = "template_not_found"
    case invalidCode = "invalid_code"
    case consentRequired = "consent_required"
    case challengeRequired = "challenge_required"
    case challengeInvalid = "challenge_invalid"
    case challengeExpired = "challenge_expired"
    case challengeUsed = "challenge_used"
    case retakeUnavailable = "retake_unavailable"
    case payloadTooLarge = "payload_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case requestTimeout = "request_timeout"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case unauthorized
    case forbidden
    case sessionNotFound = "session_not_found"
    case jobNotFound = "job_not_found"
    case topicNotFound = "topic_not_found"
    case alreadyEnrolled = "already_enrolled"
    case faceInUse = "face_in_use"
    case deviceNotRegistered = "device_not_registered"
    case reauthenticationRequired = "reauthentication_required"
    case useDPoPNonce = "use_dpop_nonce"
    case invalidDPoPProof = "invalid_dpop_proof"
    case deviceKeyRequired = "device_key_required"
    case verificationRequired = "verification_required"
    case rateLimited = "rate_limited"
    case accountLocked = "account_locked"
    case limitReached = "limit_reached"
    case nameTaken = "name_taken"
    case notificationNotFound = "notification_not_found"
    case alreadySent = "already_sent"
    case requestInProgress = "request_in_progress"
    case idempotencyKeyReused = "idempotency_key_reused"
    case `internal`
    case overloaded
    case unavailable

    /// The number in the envelope's `code`.
    var number: Int {
        switch self {
        case .invalidRequest: 1000
        case .missingField: 1001
        case .invalidImage: 1002
        case .invalidPhotoCount: 1003
        case .invalidEmail: 1004
        case .templateNotFound: 1005
        case .payloadTooLarge: 1006
        case .unsupportedMediaType: 1007
        case .notFound: 1008
        case .methodNotAllowed: 1009
        case .invalidCode: 1010
        case .consentRequired: 1011
        case .challengeRequired: 1012
        case .challengeInvalid: 1013
        case .requestTimeout: 1014
        case .unauthorized: 1101
        case .forbidden: 1102
        case .sessionNotFound: 1103
        case .jobNotFound: 1104
        case .topicNotFound: 1105
        case .deviceNotRegistered: 1106
        case .reauthenticationRequired: 1107
        case .alreadyEnrolled: 1108
        case .nameTaken: 1110
        case .notificationNotFound: 1111
        case .alreadySent: 1112
        case .faceInUse: 1113
        case .challengeExpired: 1114
        case .challengeUsed: 1115
        case .useDPoPNonce: 1116
        case .invalidDPoPProof: 1117
        case .deviceKeyRequired: 1118
        case .verificationRequired: 1119
        case .retakeUnavailable: 1120
        case .rateLimited: 1201
        case .accountLocked: 1202
        case .limitReached: 1203
        case .requestInProgress: 1301
        case .idempotencyKeyReused: 1302
        case .internal: 1501
        case .overloaded: 1502
        case .unavailable: 1503
        }
    }

    /// The status of the answer.
    var status: HTTPResponse.Status {
        switch self {
        case .invalidRequest, .missingField, .invalidImage, .invalidPhotoCount, .invalidEmail, .templateNotFound, .invalidCode,
            .consentRequired, .challengeRequired, .challengeInvalid:
            .badRequest
        case .payloadTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .requestTimeout: .requestTimeout
        case .notFound, .sessionNotFound, .jobNotFound, .topicNotFound, .notificationNotFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .unauthorized, .useDPoPNonce, .invalidDPoPProof, .deviceKeyRequired: .unauthorized
        case .forbidden, .reauthenticationRequired, .verificationRequired: .forbidden
        case .rateLimited, .accountLocked: .tooManyRequests
        case .requestInProgress, .limitReached, .deviceNotRegistered, .alreadyEnrolled, .faceInUse, .nameTaken, .alreadySent,
            .challengeExpired, .challengeUsed, .retakeUnavailable:
            .conflict
        case .idempotencyKeyReused: .unprocessableContent
        case .internal: .internalServerError
        case .overloaded, .unavailable: .serviceUnavailable
        }
    }

    /// Whether the same request can succeed later.
    var isRetryable: Bool {
        switch self {
        case .requestTimeout, .rateLimited, .requestInProgress, .internal, .overloaded, .unavailable: true
        default: false
        }
    }
}
