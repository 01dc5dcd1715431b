internal import JSON

/// The body of an error response, read leniently: FCM varies the order of `details` and omits parts, so members of an unexpected type are
/// ignored.
struct ErrorEnvelope {
    let status: String?
    let message: String?
    /// The error code of the first FcmError among the details.
    let fcmCode: String?
    /// The fields that a BadRequest names.
    let fields: [String]

    /// Parses a body; nil when it is not an error envelope, as when a proxy answers with HTML.
    init?(_ body: [UInt8]) {
        guard let error = (try? JSONDocument(parsing: body, limits: Self.limits))?.root["error"], error.isObject else { return nil }
        status = error["status"]?.string
        message = error["message"]?.string
        let details = error["details"]?.elements ?? []
        fcmCode = details.lazy.filter(Self.isFCMError).compactMap { $0["errorCode"]?.string }.first
        fields = details.flatMap { $0["fieldViolations"]?.elements ?? [] }.compactMap { $0["field"]?.string }
    }

    /// The response has a limited size, so lenient parsing is safe. A fault in an unneeded member must not hide the needed one: a string
    /// that cannot be decoded has no text, and a number may be out of range.
    static let limits = JSONLimits(maxDepth: 512, maxValues: .max, isLenient: true)

    private static func isFCMError(_ detail: JSONElement) -> Bool {
        detail["@type"]?.string?.hasSuffix("google.firebase.fcm.v1.FcmError") ?? false
    }
}
