public import FoundationEssentials
public import HTTPClient
internal import JSON

/// Classifies FCM's responses into outcomes.
///
/// The first of these that is present decides: the first FcmError in any position of the details, the fields that a BadRequest
/// names, the envelope's status, the HTTP status. The message text decides only one case: a malformed token.
public enum FCMClassifier {
    /// The wait after an exceeded quota when FCM's response has no wait.
    public static let quotaDefaultWait: Duration = .seconds(60)

    /// The longest wait that is accepted from FCM: an hour, after which a push is given up anyway.
    public static let maxRetryAfter: Duration = .seconds(3600)

    private static let badTokenMessage = "The registration token is not a valid FCM registration token"
    private static let targetFields: Set = ["message.token", "message.fid"]

    /// Classifies a response.
    public static func classify(_ response: HTTPClientResponse, now: Date) -> FCMResult {
        if (200..<300).contains(response.status) { return accepted(response) }
        let wait = response.retryAfter(now: now, max: maxRetryAfter)
        guard let envelope = ErrorEnvelope(response.body) else { return byHTTPStatus(response.status, wait) }
        if let code = envelope.fcmCode { return byFCMCode(code, envelope, response.status, wait) }
        if !envelope.fields.isEmpty { return byFields(envelope) }
        if let status = envelope.status, let outcome = outcome(ofStatus: status, wait) {
            return FCMResult(outcome, code: sanitised(status))
        }
        return byHTTPStatus(response.status, wait)
    }

    /// Classifies the error of a request without a response.
    public static func classify(_ error: HTTPClientError) -> FCMResult {
        switch error.code {
        case .cancelled: FCMResult(.cancelled, code: error.code.rawValue)
        case .invalidRequest: FCMResult(.config, code: error.code.rawValue)
        default: FCMResult(error.mayHaveReachedServer ? .ambiguous : .notSent, code: error.code.rawValue)
        }
    }

    private static func accepted(_ response: HTTPClientResponse) -> FCMResult {
        // A proxy may answer 200; only a response with a name is FCM's.
        let answer = (try? JSONDocument(parsing: response.body, limits: ErrorEnvelope.limits))?.root
        var name: String?
        answer?["name"]?.withText { name = Self.name($0) }
        guard let name else { return FCMResult(.ambiguous, code: "no_name") }
        return FCMResult(.accepted(name: name), code: "ok")
    }

    /// The name of an accepted message without characters that a database may refuse, such as NUL; nil when no characters are left.
    private static func name(_ text: UnsafeRawBufferPointer) -> String? {
        let capacity = min(text.count, maxNameCharacters)
        let name = String(unsafeUninitializedCapacity: capacity) { output in
            var count = 0
            for byte in text where (0x21...0x7E).contains(byte) {
                guard count < capacity else { break }
                output[count] = byte
                count += 1
            }
            return count
        }
        return name.isEmpty ? nil : name
    }

    private static let maxNameCharacters = 256

    private static func byFCMCode(
        _ code: String, _ envelope: ErrorEnvelope, _ status: Int, _ wait: Duration?
    ) -> FCMResult {
        let outcome: FCMOutcome =
            switch code {
            case "UNREGISTERED": .deadTarget
            case "SENDER_ID_MISMATCH": .foreignTarget
            case "INVALID_ARGUMENT": namesTarget(envelope) ? .deadTarget : .badPayload
            case "QUOTA_EXCEEDED": quota(wait)
            case "UNAVAILABLE", "INTERNAL": .transient(retryAfter: wait)
            case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": .providerAuth
            default: status >= 500 ? .transient(retryAfter: wait) : .badPayload
            }
        return FCMResult(outcome, code: sanitised(code))
    }

    private static func byFields(_ envelope: ErrorEnvelope) -> FCMResult {
        let isDead = namesTarget(envelope)
        return FCMResult(isDead ? .deadTarget : .badPayload, code: sanitised(envelope.status ?? "INVALID_ARGUMENT"))
    }

    /// Returns whether the refusal is about the target. Any other refusal is a fault of this system and must not cost a valid
    /// installation its registration.
    private static func namesTarget(_ envelope: ErrorEnvelope) -> Bool {
        envelope.fields.contains(where: targetFields.contains) || envelope.message == badTokenMessage
    }

    private static func outcome(ofStatus status: String, _ wait: Duration?) -> FCMOutcome? {
        switch status {
        case "INVALID_ARGUMENT", "OUT_OF_RANGE": .badPayload
        case "UNAUTHENTICATED": .ourAuth
        // A 404 without an FcmError means the project or the URL, never the installation.
        case "PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION", "UNIMPLEMENTED": .config
        case "RESOURCE_EXHAUSTED": quota(wait)
        case "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "ABORTED", "UNKNOWN", "CANCELLED":
            .transient(retryAfter: wait)
        default: nil
        }
    }

    private static func byHTTPStatus(_ status: Int, _ wait: Duration?) -> FCMResult {
        let outcome: FCMOutcome =
            switch status {
            case 401: .ourAuth
            case 403, 404, 405, 300..<400: .config
            case 408, 500...: .transient(retryAfter: wait)
            case 429: quota(wait)
            default: .badPayload
            }
        return FCMResult(outcome, code: "http_\(status)")
    }

    private static func quota(_ wait: Duration?) -> FCMOutcome {
        .quota(retryAfter: max(wait ?? quotaDefaultWait, quotaDefaultWait))
    }

    /// Limits an external text to 64 harmless characters, because it is stored and logged.
    private static func sanitised(_ text: String) -> String {
        String(text.prefix(64).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "?" })
    }
}
