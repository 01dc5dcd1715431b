internal import HTTPTypes
internal import JSON
internal import Storage

extension APIOperation {
    /// The tokens of sign-ins.
    static let auth: [APIOperation] = [
        APIOperation(
            method: .post, path: "/api/v1/auth/refresh", id: "refreshTokens", area: .faces,
            summary: "Renews the tokens of a sign-in; again within 30 seconds: the same new tokens",
            body: .json(.object(["refresh_token": .text]), upTo: TokenController.maxBodyBytes),
            replies: [.bare(tokens, "The new tokens")], errors: [.unauthorized],
            repetition: "the same tokens, 30 seconds", handler: { $0.tokens.refresh }),
        APIOperation(
            method: .post, path: "/api/v1/auth/logout", id: "logOut", area: .faces,
            summary: "Ends the sign-in, and the pushes to its device", bearers: [.access],
            replies: [.success(.null, "The sign-in has ended")], repetition: "401: it has ended", handler: { $0.tokens.logout }),
    ]
}

extension JSONSchema {
    /// The reference beside a code in a mail.
    static let reference = text(CodeReference.length...CodeReference.length)
    static let displayName = text(1...DisplayName.maxBytes)
}
