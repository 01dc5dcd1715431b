internal import HTTPTypes

extension HTTPFields {
    /// The maximum length of a bearer token; a longer one is refused.
    private static let maxBearerBytes = 4_096

    /// The bearer token in `Authorization`; nil when there is no such header.
    ///
    /// - Throws: `unauthorized` for a header of another scheme or shape.
    func bearer() throws(APIError) -> String? {
        guard let header = self[.authorization] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer", parts[1].utf8.count <= Self.maxBearerBytes,
            !parts[1].utf8.contains(UInt8(ascii: " "))  // by bytes: an ID token has a thousand of them
        else { throw APIError.unauthorized("The Authorization header is not a bearer token") }
        return String(parts[1])
    }
}
