internal import HTTPTypes
internal import Hummingbird

extension APIOperation {
    /// The tokens of sign-ins.
    static let tokens: [APIOperation] = [
        APIOperation(
            .post, "/api/v1/auth/refresh", id: "refreshTokens", area: .faces,
            summary: "Renews the tokens of a sign-in; again within 30 seconds: the same new tokens",
            from: .withDeviceKey(.anyone()),
            reply: .bare("The new tokens", cacheControl: "no-store"), errors: [.unauthorized],
            repetition: "the same tokens, 30 seconds", handler: { $0.tokens.refresh }),
        APIOperation(
            .post, "/api/v1/auth/logout", id: "logOut", area: .faces, summary: "Ends the sign-in, and the pushes to its device",
            from: .leaving, reply: .success("Logged out", "The sign-in has ended"), repetition: "401: it has ended",
            handler: { $0.tokens.logout }),
    ]
}
