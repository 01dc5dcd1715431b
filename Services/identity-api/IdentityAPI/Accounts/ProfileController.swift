internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `GET` and `PUT /v1/users/me`: shows the owner the account, and sets the profile that other users see.
struct ProfileController: Sendable {
    /// The maximum size of the JSON.
    static let maxBodyBytes = 4 * 1_024

    let postgres: PostgresClient
    let keys: AccountKeys
    let authenticator: any Authenticator
    /// Limits the changes of one account.
    let limiter: RateLimiter<UUID>

    func get(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many requests by this account")
        guard let account = try await AccountOverview(of: identity.userID, in: postgres, keys) else {
            throw APIError.unauthorized("The account is gone")
        }
        var response = Answer.json(Answer.data(account.json, context.requestID))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    func put(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many changes by this account")
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        guard body.has(DisplayName.field) else {
            throw APIError(.missingField, "The name is missing; null means none", field: DisplayName.field)
        }
        let name = try body.text(DisplayName.field).map { text throws(APIError) in try DisplayName(text) }
        let sealed = try name.map { try keys.sealed($0, of: identity.userID) }
        try await postgres.withTransaction { transaction in
            guard try await UserRepository(transaction).setDisplayName(sealed, of: identity.userID) else {
                throw APIError.unauthorized("The account is gone")
            }
            try await AuditRepository(transaction).append(
                keys.auditEntry(.profileChanged, by: .user(identity.userID), on: identity.userID, context))
        }
        return Answer.json(
            Answer.data(
                .members(
                    ("user_id", .string(identity.userID.wireString)),
                    (DisplayName.field, name.map { .string($0.text) } ?? .null)),
                context.requestID))
    }
}

/// A user's display name. Never logged.
struct DisplayName: Sendable {
    static let field = "display_name"
    /// The maximum number of characters of a name, as a reader counts them (grapheme clusters).
    static let maxCharacters = 50
    /// The maximum size of a name, because a character may have any number of bytes.
    static let maxBytes = 400

    let text: String

    /// Validates a display name; invisible characters around it are dropped.
    ///
    /// - Throws: `invalid_request` for a name that is empty, too long, or has characters that would change the display of the text around
    ///   it: control characters, line breaks, changes of the writing direction.
    init(_ text: String) throws(APIError) {
        let name = text.trimmed
        guard !name.showsNothing, name.count <= Self.maxCharacters, name.utf8.count <= Self.maxBytes,
            !name.unicodeScalars.contains(where: \.isUnsafe)
        else {
            throw APIError(
                .invalidRequest, "A name has 1 to \(Self.maxCharacters) characters on one line", field: Self.field)
        }
        self.text = name
    }
}
