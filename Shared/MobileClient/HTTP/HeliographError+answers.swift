internal import Foundation

/// The error of an answer (CONTRACT §5).
struct ErrorAnswer: Decodable {
    struct Details: Decodable {
        var code: String?
        var field: String?
        var retryable: Bool?
        var retryAfter: Double?
        var attemptsLeft: Int?
        var verificationID: UUID?
        var reference: String?

        enum CodingKeys: String, CodingKey {
            case code, field, retryable, reference
            case retryAfter = "retry_after"
            case attemptsLeft = "attempts_left"
            case verificationID = "verification_id"
        }

        /// Tolerant: a member of an unexpected type counts as missing.
        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            code = try? members.decode(String.self, forKey: .code)
            field = try? members.decode(String.self, forKey: .field)
            retryable = try? members.decode(Bool.self, forKey: .retryable)
            retryAfter = try? members.decode(Double.self, forKey: .retryAfter)
            attemptsLeft = try? members.decode(Int.self, forKey: .attemptsLeft)
            verificationID = try? members.decode(UUID.self, forKey: .verificationID)
            reference = try? members.decode(String.self, forKey: .reference)
        }

        /// The mailed code that the request needs.
        var awaitedCode: EKYCSession.AwaitedCode? {
            verificationID.map { EKYCSession.AwaitedCode(verificationID: $0, reference: reference?.cut(toBytes: 100)) }
        }
    }

    var error: Details
    var message: String?

    enum CodingKeys: CodingKey { case error, message }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        error = try members.decode(Details.self, forKey: .error)
        message = try? members.decode(String.self, forKey: .message)
    }

    /// nil for a body that does not come from the API, for example from a proxy.
    init?(_ response: TransportResponse) {
        guard let answer = try? JSONDecoder().decode(Self.self, from: response.body), answer.error.code != nil else { return nil }
        self = answer
    }
}

extension HeliographError {
    /// The error that an answer contains.
    ///
    /// - Parameter requestID: The id that was sent, used if the answer has none.
    init(_ response: TransportResponse, requestID: String, now: Date) {
        let answer = ErrorAnswer(response)
        let seconds = [answer?.error.retryAfter, Self.retryAfter(response.headers["retry-after"], now: now)]
            .compactMap(\.self).filter { $0 > 0 && $0.isFinite }.max()
        let message = answer?.message ?? "The API answers with status \(response.status)"
        self.init(
            answer?.error.code.map { Code(rawValue: $0.cut(toBytes: 100)) } ?? Self.code(ofStatus: response.status),
            String(message.cut(toBytes: 1_200).filter { !$0.isNewline }.prefix(300)), status: response.status,
            field: answer?.error.field?.cut(toBytes: 200), requestID: (response.headers["x-request-id"] ?? requestID).cut(toBytes: 200),
            retryAfter: seconds.map { .seconds(min($0, 86_400)) },
            isRetryable: answer?.error.retryable ?? [408, 429, 500, 502, 503, 504].contains(response.status),
            attemptsLeft: answer?.error.attemptsLeft.map { min(max($0, 0), 100) }, awaitedCode: answer?.error.awaitedCode)
    }

    /// The error of a request without an answer.
    init(_ error: TransportError, requestID: String) {
        let (code, isRetryable): (Code, Bool) =
            switch error.code {
            case .notConnected, .connectionLost, .other: (.unreachable, true)
            // A certificate that is not accepted: of a captive network, say, which the person leaves later. Asking again at once is no use.
            case .untrusted: (.unreachable, false)
            case .timedOut: (.timedOut, true)
            case .cancelled: (.cancelled, false)
            case .tooLong: (.unexpectedAnswer, false)
            case .file: (.storage, false)
            }
        self.init(code, error.message, requestID: requestID, isRetryable: isRetryable)
    }

    /// The meaning of an answer without the API's error: it may come from a proxy.
    private static func code(ofStatus status: Int) -> Code {
        switch status {
        case 401: .unauthorized
        case 413: .payloadTooLarge
        case 429: .rateLimited
        case 500: .internal
        case 502, 503, 504: .overloaded
        default: .unexpectedAnswer
        }
    }

    /// The seconds that a `Retry-After` names (RFC 9110 §10.2.3).
    static func retryAfter(_ value: String?, now: Date) -> Double? {
        guard let value else { return nil }
        if let seconds = Double(value), value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return seconds }
        return WireDate.parseHTTP(value).map { max(0, $0.timeIntervalSince(now)) }
    }
}
