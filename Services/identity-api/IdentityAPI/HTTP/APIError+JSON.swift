internal import JSON

extension APIError {
    /// The refusal of a text that is not JSON, with the reason and its position, but no part of the text.
    ///
    /// - Parameter byteCount: The length of the text: a fault at its end means that the rest is missing.
    init(_ error: JSONError, byteCount: Int, field: String? = nil) {
        let message =
            switch error.code {
            case .duplicateName: "The JSON has a name twice"
            case .limitExceeded: "The JSON has too many values, or is nested too deeply"
            case .truncated: "The JSON ends too early"
            case .malformed where error.offset.map { $0 >= byteCount } ?? false: "The JSON ends too early"
            case .malformed, .notString, .notASCII, .badBase64: "This is not JSON: \(error.message)\(error.place)"
            }
        self.init(.invalidRequest, message, field: field, underlying: error)
    }
}

extension JSONError {
    fileprivate var place: String { offset.map { " At byte \($0)." } ?? "" }
}

extension JSONLimits {
    /// The limits of a request's JSON: a number that no field takes does no harm.
    static let request = JSONLimits(allowsNumbersOutOfRange: true)
}
