internal import FoundationEssentials
internal import HTTPTypes
internal import WireFormat

/// The key by which a client marks a request as a repetition.
///
/// It is `Idempotency-Key`, or else an `X-Request-ID` that is a UUID: a background upload of iOS repeats its request with all its
/// headers, and an id that is not a UUID may not be unique. A placeholder (`null`, the UUID of zeros) is not read as a key:
/// unrelated requests that have it would be repetitions.
enum IdempotencyKey {
    /// The maximum length of a key.
    static let maxLength = 128

    /// Reads the key of a request; nil for a request without a key.
    ///
    /// - Throws: `invalid_request` for an `Idempotency-Key` that is too long, or has characters other than visible ASCII.
    static func read(_ headers: HTTPFields) throws(APIError) -> String? {
        if let key = headers[.idempotencyKey].map(unquoted), !key.isPlaceholder {
            guard key.utf8.count <= maxLength, key.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }) else {
                throw APIError(
                    .invalidRequest, "An idempotency key has up to \(maxLength) visible characters",
                    field: HTTPField.Name.idempotencyKey.rawName)
            }
            return key
        }
        guard let id = headers[.requestID].flatMap({ UUID(wireBytes: $0.utf8) })?.wireString, !id.isPlaceholder else { return nil }
        return id
    }

    /// Returns a key without its quotation marks.
    private static func unquoted(_ key: String) -> String {
        // The IETF's draft defines the header as a structured field, with quotation marks; in practice clients send a bare text.
        key.count >= 2 && key.hasPrefix("\"") && key.hasSuffix("\"") ? String(key.dropFirst().dropLast()) : key
    }
}
