internal import FoundationEssentials

/// The body of an error response, parsed leniently: FCM varies the order of `details` and omits parts.
struct ErrorEnvelope {
    let status: String?
    let message: String?
    /// The error code of the first FcmError among the details.
    let fcmCode: String?
    /// The fields that a BadRequest names.
    let fields: [String]

    /// Parses a body; nil when it is not an error envelope, as when a proxy answers with HTML.
    init?(_ body: [UInt8]) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(body)) else { return nil }
        status = answer.error.status
        message = answer.error.message
        let details = answer.error.details ?? []
        fcmCode = details.lazy.compactMap { $0.isFCMError ? $0.errorCode : nil }.first
        fields = details.flatMap { $0.fields }
    }

    private struct Answer: Decodable {
        struct Fault: Decodable {
            let status: String?
            let message: String?
            let details: [Detail]?

            enum CodingKeys: String, CodingKey { case status, message, details }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                status = try? container.decode(String.self, forKey: .status)
                message = try? container.decode(String.self, forKey: .message)
                details = try? container.decode([Detail].self, forKey: .details)
            }
        }

        let error: Fault
    }

    /// One of the details, of any type; members that cannot be decoded are left out.
    private struct Detail: Decodable {
        private struct Violation: Decodable { let field: String? }

        enum CodingKeys: String, CodingKey {
            case type = "@type"
            case errorCode, fieldViolations
        }

        let isFCMError: Bool
        let errorCode: String?
        let fields: [String]

        init(from decoder: any Decoder) throws {
            guard let container = try? decoder.container(keyedBy: CodingKeys.self) else {
                (isFCMError, errorCode, fields) = (false, nil, [])
                return
            }
            let type = try? container.decode(String.self, forKey: .type)
            isFCMError = type?.hasSuffix("google.firebase.fcm.v1.FcmError") ?? false
            errorCode = try? container.decode(String.self, forKey: .errorCode)
            let violations = try? container.decode([Violation].self, forKey: .fieldViolations)
            fields = violations?.compactMap(\.field) ?? []
        }
    }
}
