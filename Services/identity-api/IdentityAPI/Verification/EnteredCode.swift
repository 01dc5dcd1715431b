internal import Accounts

/// A mailed code as a person typed or pasted it: six digits.
///
/// Spaces and hyphens between them, invisible characters, and the digits of other scripts are what mail programs and keyboards add. A text
/// that cannot be a code is refused before it is compared, so that it costs no attempt.
struct EnteredCode: Sendable {
    static let field = "code"
    /// The number of digits of a code.
    static let length = 6

    let digits: String

    /// Reads the field of a request.
    ///
    /// - Throws: `missing_field`; `invalid_request` for a text that cannot be a code.
    init(_ body: JSONBody) throws(APIError) {
        guard let text = try body.wordOrNumber(Self.field) else {
            throw APIError(.missingField, "A field is missing", field: Self.field)
        }
        guard let digits = Self.digits(of: text), digits.count <= Self.length, digits.count == Self.length || body.isNumber(Self.field)
        else {
            throw APIError(.invalidRequest, "A code has \(Self.length) digits", field: Self.field)
        }
        // A number has no zeros at its start.
        self.digits = String(repeating: "0", count: Self.length - digits.count) + digits
    }

    private static func digits(of text: String) -> String? {
        var digits = ""
        for scalar in text.unicodeScalars where !scalar.showsNothing && scalar.properties.generalCategory != .dashPunctuation {
            guard scalar.properties.generalCategory == .decimalNumber, let value = scalar.properties.numericValue else { return nil }
            digits += String(Int(value))
        }
        return digits
    }
}
