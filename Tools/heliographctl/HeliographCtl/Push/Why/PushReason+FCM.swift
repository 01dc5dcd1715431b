/// The codes of FCM and of requests to it (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
extension PushReason {
    /// Codes that have the same reason.
    struct FCMCodes {
        let codes: [String]
        let reason: PushReason

        init(_ codes: String..., because cause: String, remedy: String) {
            self.codes = codes
            reason = PushReason(cause, remedy: remedy)
        }
    }

    /// The codes that `FCMClassifier` and `FCMClient` store, by their reason.
    static let fcm: [FCMCodes] = [
        FCMCodes("UNREGISTERED", because: "FCM calls the token of the phone dead", remedy: registerAgain),
        FCMCodes(
            "INVALID_ARGUMENT", "OUT_OF_RANGE", because: "FCM refuses the token or the message as invalid",
            remedy: "If the delivery is `dead`, the app registers a new token; if it has `failed`, look in the log of notifier."),
        FCMCodes(
            "SENDER_ID_MISMATCH", because: "the token belongs to another Firebase project",
            remedy: "Build the app with the project of GOOGLE_APPLICATION_CREDENTIALS, or give notifier that of the app."),
        FCMCodes(
            "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR", because: "Apple's or the browser's push service refuses the project's credentials",
            remedy: "Renew the APNs key, or the web push certificate, in the Firebase console."),
        FCMCodes(
            "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED", "http_429", because: "a quota of FCM is reached",
            remedy: "It is tried again; if it happens often, have Google raise the quota."),
        FCMCodes(
            "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "ABORTED", "UNKNOWN", "CANCELLED",
            because: "FCM has failed", remedy: "It is tried again while it has time; see Firebase's status page."),
        FCMCodes(
            "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION", "UNIMPLEMENTED", "credentials_refused",
            "invalidRequest", because: "FCM refuses the credentials, or the project is not set up for it",
            remedy: "Check GOOGLE_APPLICATION_CREDENTIALS, and that the project has the Firebase Cloud Messaging API (V1) enabled."),
        FCMCodes(
            "token_unavailable", "notSent", "shutDown", because: "FCM, or Google's token server, could not be reached",
            remedy: "Check the network of notifier to fcm.googleapis.com and oauth2.googleapis.com; it is tried again."),
        FCMCodes(
            "timeout", "ambiguous", "responseTooLarge", "no_name", because: "the answer of FCM was lost",
            remedy: "It is tried again, silently, because the first may have arrived."),
    ]

    /// The beginning of the codes of answers without a body of FCM's, such as a proxy's; the HTTP status follows.
    static let httpPrefix = "http_"

    /// The reason of such an answer.
    static let http = PushReason(
        "something between notifier and FCM answered with an HTTP error", remedy: "Check the proxy of notifier and FCM_BASE_URL.")
}
