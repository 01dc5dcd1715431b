internal import FoundationEssentials
internal import HTTPTypes
internal import WireFormat

/// The key by which a client marks a request as a repetition.
///
/// It is `Idempotency-Key`, or else an `X-Request-ID` that is a UUID: a background upload of iOS repeats its request with all its
/// headers, and an id that is not a UUID may not be unique.
enum IdempotencyKey {
    /// The maximum length of a key.
    static let maxLength = 128

    /// Reads the key of a request; nil when it has none.
    ///
    /// - Throws: `invalid_request` for an `Idempotency-Key` that is empty, too long, or has other characters than visible ASCII.
    static func read(_ headers: HTTPFields) throws(APIError) -> String? {
        guard var key = headers[.idempotencyKey] else {
            return headers[.requestID].flatMap { UUID(wireBytes: $0.utf8) }?.wireString
        }
        // The IETF's draft defines the header as a structured field, with quotation marks; in practice clients send a bare text.
        if key.count >= 2, key.hasPrefix("\""), key.hasSuffix("\"") { key = String(key.dropFirst().dropLast()) }
        guard 1...maxLength ~= key.utf8.count, key.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }) else {
            throw APIError(.invalidRequest, "The idempotency key is 1 to \(maxLength) visible characters")
        }
        return key
    }
}
