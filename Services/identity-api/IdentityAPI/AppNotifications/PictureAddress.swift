/// The URL of a picture, which phones load themselves: nothing here requests it.
struct PictureAddress: Sendable {
    /// The maximum size: it is in the message twice.
    static let maxBytes = 700
    static let field = "image"
    private static let scheme = "https://"

    /// The URL, with an international host in A-labels.
    let text: String

    /// Reads the field of a request; nil without one.
    ///
    /// - Throws: `invalid_request` with the reason.
    init?(_ body: JSONBody) throws(APIError) {
        guard let url = try body.word(Self.field) else { return nil }
        guard url.prefix(Self.scheme.count).lowercased() == Self.scheme else { throw Self.refusal("A picture is at an https address") }
        let rest = url.dropFirst(Self.scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { throw Self.refusal("The address of a picture has no user name") }
        guard let address = HostAddress(authority) else {
            throw Self.refusal("The address of a picture has no valid host, or no valid port")
        }
        text = Self.scheme + address.text + rest[authority.endIndex...]
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw Self.refusal("The path of a picture's address is percent-encoded ASCII")
        }
        guard text.utf8.count <= Self.maxBytes else { throw Self.refusal("The address of a picture has up to \(Self.maxBytes) bytes") }
    }

    private static func refusal(_ message: String) -> APIError { APIError(.invalidRequest, message, field: field) }
}
