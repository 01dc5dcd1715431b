public import FoundationEssentials
public import HTTPClient

/// Sorts FCM's answers into outcomes.
///
/// In this order: the first FcmError in any position of the details, then the fields a BadRequest names, then the
/// envelope's status, then the HTTP status. Text decides nothing but one case: the sentence about a malformed token.
public enum FCMClassifier {
    /// How long to wait when a quota is exceeded and FCM does not say how long.
    public static let quotaDefaultWait: Duration = .seconds(60)

    /// The longest wait that is believed: an hour, after which a push is given up anyway.
    public static let retryAfterMax: Duration = .seconds(3600)

    private static let badTokenMessage = "The registration token is not a valid FCM registration token"
    private static let targetFields: Set = ["message.token", "message.fid"]

    /// Returns what an answer means.
    public static func classify(_ response: HTTPClientResponse, now: Date) -> FCMResult {
        if (200..<300).contains(response.status) { return accepted(response) }
        let wait = response.retryAfter(now: now, max: retryAfterMax)
        guard let envelope = ErrorEnvelope(response.body) else { return byHTTPStatus(response.status, wait) }
        if let code = envelope.fcmCode { return byFCMCode(code, envelope, response.status, wait) }
        if !envelope.fields.isEmpty { return byFields(envelope) }
        if let status = envelope.status, let outcome = outcome(ofStatus: status, wait) {
            return FCMResult(outcome, code: word(status))
        }
        return byHTTPStatus(response.status, wait)
    }

    /// Returns what a request without an answer means.
    public static func classify(_ error: HTTPClientError) -> FCMResult {
        switch error.code {
        case .cancelled: FCMResult(.cancelled, code: error.code.rawValue)
        case .invalidRequest: FCMResult(.config, code: error.code.rawValue)
        default: FCMResult(error.mayHaveReachedServer ? .ambiguous : .notSent, code: error.code.rawValue)
        }
    }

    private static func accepted(_ response: HTTPClientResponse) -> FCMResult {
        struct Answer: Decodable { let name: String }
        if let name = plainName(response.body) { return FCMResult(.accepted(name: name), code: "ok") }
        // Some proxy may say 200; only a name is FCM's word.
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
        // What a database may refuse, such as a NUL, must not get as far as the ledger.
        let name = answer?.name.unicodeScalars.filter { $0 > " " && $0 <= "~" }.prefix(nameCharactersMax) ?? []
        guard !name.isEmpty else { return FCMResult(.ambiguous, code: "no_name") }
        return FCMResult(.accepted(name: String(String.UnicodeScalarView(name))), code: "ok")
    }

    private static let nameCharactersMax = 256

    /// The name in an answer that is nothing but a name, as nearly all are; nil for whatever needs a parser.
    private static func plainName(_ body: [UInt8]) -> String? {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        var rest = body[...].drop(while: isSpace)
        for word in [#"{"#, #""name""#, ":", #"""#] {
            guard rest.starts(with: word.utf8) else { return nil }
            rest = rest.dropFirst(word.utf8.count)
            if word != #"""# { rest = rest.drop(while: isSpace) }
        }
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")), end > rest.startIndex else { return nil }
        let name = rest[..<end]
        guard name.count <= nameCharactersMax, name.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            rest[(end + 1)...].drop(while: isSpace).first == UInt8(ascii: "}")
        else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

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
        return FCMResult(outcome, code: word(code))
    }

    private static func byFields(_ envelope: ErrorEnvelope) -> FCMResult {
        let isDead = namesTarget(envelope)
        return FCMResult(isDead ? .deadTarget : .badPayload, code: word(envelope.status ?? "INVALID_ARGUMENT"))
    }

    /// Whether the fault is the target's: otherwise a fault of ours would cost a good installation its registration.
    private static func namesTarget(_ envelope: ErrorEnvelope) -> Bool {
        envelope.fields.contains(where: targetFields.contains) || envelope.message == badTokenMessage
    }

    private static func outcome(ofStatus status: String, _ wait: Duration?) -> FCMOutcome? {
        switch status {
        case "INVALID_ARGUMENT", "OUT_OF_RANGE": .badPayload
        case "UNAUTHENTICATED": .ourAuth
        // Without an FcmError a 404 is about the project or the URL, never about the installation.
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

    /// Keeps what comes from outside short and harmless, as it is stored and logged.
    private static func word(_ text: String) -> String {
        String(text.prefix(64).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "?" })
    }
}
