import JSON

/// A refusal of `messages:send`: an HTTP status and the error envelope of Google's APIs.
///
/// The order of `details` differs from case to case, and some cases have no details. Clients that read only the first detail misjudge them,
/// so the order here is the order that was captured in production.
typealias FCMRefusal = GoogleError

extension FCMRefusal {
    // MARK: Details

    static func fcmError(_ code: String) -> JSONValue {
        ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code)]
    }

    private static func badRequest(_ field: String, _ description: String) -> JSONValue {
        badRequest([(field: field, description: description)])
    }

    private static func errorInfo(_ reason: String) -> JSONValue {
        errorInfo(
            reason, ["service": "fcm.googleapis.com", "method": "google.firebase.fcm.v1.FcmService.SendMessage"])
    }

    // MARK: The request itself (observed, or documented)

    static let badToken = invalid(
        "The registration token is not a valid FCM registration token",
        [
            fcmError("INVALID_ARGUMENT"),
            badRequest("message.token", "The registration token is not a valid FCM registration token"),
        ])
    static let noRecipient = invalidField("message", "Recipient of the message is not set.")
    static let badTopic = invalidField("message", "Topic name contains invalid characters.")
    static let badCondition = invalid("Request contains an invalid argument.", nil)
    static let tooBig = invalid(
        "Message is too large. The maximum is 4K (4096 bytes).", [badRequest([]), fcmError("INVALID_ARGUMENT")])
    /// The envelope of a bad installation id was never captured; it is assumed to be the envelope of a bad token with another field.
    static let badFID = invalid(
        "The registration token is not a valid FCM registration token",
        [
            fcmError("INVALID_ARGUMENT"),
            badRequest("message.fid", "The registration token is not a valid FCM registration token"),
        ])

    /// A field with an invalid value: BadRequest, then FcmError.
    static func invalidField(_ field: String, _ message: String) -> FCMRefusal {
        invalid(message, [badRequest(field, message), fcmError("INVALID_ARGUMENT")])
    }

    /// A body that does not fit the schema: BadRequest only, because the front end refuses it before FCM sees it.
    static func schema(_ violations: [(field: String, description: String)]) -> FCMRefusal {
        invalid(violations.map(\.description).joined(separator: "\n"), [badRequest(violations)])
    }

    static func notJSON(_ reason: String) -> FCMRefusal {
        invalid("Invalid JSON payload received. \(reason)", nil)
    }

    static func payloadTooLarge(limit: Int) -> FCMRefusal {
        invalid("Request payload size exceeds the limit: \(limit) bytes.", nil)
    }

    private static func invalid(_ message: String, _ details: [JSONValue]?) -> FCMRefusal {
        FCMRefusal(code: 400, status: "INVALID_ARGUMENT", message: message, details: details)
    }

    // MARK: The registration's state

    static let unregistered = FCMRefusal(
        code: 404, status: "NOT_FOUND", message: "Requested entity was not found.", details: [fcmError("UNREGISTERED")])
    static let senderMismatch = FCMRefusal(
        code: 403, status: "PERMISSION_DENIED", message: "SenderId mismatch", details: [fcmError("SENDER_ID_MISMATCH")])

    // MARK: The caller

    static func permissionDenied(project: String) -> FCMRefusal {
        FCMRefusal(
            code: 403, status: "PERMISSION_DENIED",
            message: "Permission 'cloudmessaging.messages.create' denied on resource "
                + "'//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).",
            details: [errorInfo("IAM_PERMISSION_DENIED")])
    }

    static func serviceDisabled(project: String) -> FCMRefusal {
        FCMRefusal(
            code: 403, status: "PERMISSION_DENIED",
            message: "Firebase Cloud Messaging API has not been used in project \(project) before or it is disabled. Enable it "
                + "by visiting https://console.developers.google.com/apis/api/fcm.googleapis.com/overview?project=\(project) "
                + "then retry.",
            details: [errorInfo("SERVICE_DISABLED")])
    }

    static let credentialsMissing = unauthenticated(
        "Request is missing required authentication credential. ", "CREDENTIALS_MISSING")
    static let credentialsInvalid = unauthenticated(
        "Request had invalid authentication credentials. ", "ACCESS_TOKEN_TYPE_UNSUPPORTED")
    static let credentialsExpired = unauthenticated(
        "Request had invalid authentication credentials. ", "ACCESS_TOKEN_EXPIRED")

    private static func unauthenticated(_ start: String, _ reason: String) -> FCMRefusal {
        FCMRefusal(
            code: 401, status: "UNAUTHENTICATED",
            message: start + "Expected OAuth 2 access token, login cookie or other valid authentication credential. "
                + "See https://developers.google.com/identity/sign-in/web/devconsole-project.",
            details: [errorInfo(reason)])
    }

    // MARK: FCM and its backends (injected, except for the quota)

    static let thirdPartyAuth = FCMRefusal(
        code: 401, status: "UNAUTHENTICATED", message: "Auth error from APNS or Web Push Service",
        details: [fcmError("THIRD_PARTY_AUTH_ERROR")])
    static let quotaExceeded = FCMRefusal(
        code: 429, status: "RESOURCE_EXHAUSTED",
        message: "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' "
            + "of service 'fcm.googleapis.com'.",
        details: [
            [
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [["subject": "project", "description": "Send requests per minute"]],
            ],
            fcmError("QUOTA_EXCEEDED"),
        ])
    /// The refusal of a request when the quota bucket is empty; the bucket is filled again after that time.
    static func quotaExceeded(seconds: Double) -> FCMRefusal {
        var refusal = quotaExceeded
        refusal.retryAfterSeconds = max(seconds, 1)
        return refusal
    }
    static let topicQuotaExceeded = FCMRefusal(
        code: 429, status: "RESOURCE_EXHAUSTED", message: "Topic quota exceeded.", details: [fcmError("QUOTA_EXCEEDED")])
    static let unavailable = FCMRefusal(
        code: 503, status: "UNAVAILABLE", message: "The service is currently unavailable.",
        details: [fcmError("UNAVAILABLE")])
    static let internalError = FCMRefusal(
        code: 500, status: "INTERNAL", message: "Internal error encountered.", details: [fcmError("INTERNAL")])
}
