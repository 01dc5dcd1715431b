internal import Accounts
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// Answers `GET` and `PUT /v1/users/me`: shows the owner the account, and sets the profile that other users see.
struct ProfileController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    func get(_ call: UserCall) async throws -> AccountOverview {
        guard let account = try await AccountOverview(of: call.sender.userID, in: postgres, keys) else {
            throw APIError.unauthorized("The account is gone")
        }
        return account
    }

    func put(_ call: APICall<Identity, Void, ProfileBody>) async throws -> Profile {
        let (userID, name) = (call.sender.userID, call.body.name)
        let sealed = try name.map { try keys.sealed($0, of: userID) }
        try await postgres.withTransaction { transaction in
            guard try await UserRepository(transaction).setDisplayName(sealed, of: userID) else {
                throw APIError.unauthorized("The account is gone")
            }
            try await AuditRepository(transaction).append(
                keys.auditEntry(.profileChanged, by: .user(userID), on: userID, call.context))
        }
        return Profile(userID: userID, name: name?.text)
    }
}

/// The body that sets the profile.
struct ProfileBody: JSONObjectBody {
    static let fields = BodyFields<ProfileBody>(
        .wordOrNull(DisplayName.field, .displayName, or: "The name is missing; null means none")
    ) { text throws(APIError) in
        ProfileBody(name: try text.map { text throws(APIError) in try DisplayName(text) })
    }
    static let maxBytes = 4 * 1_024

    let name: DisplayName?
}

/// The profile that other users see.
struct Profile: APIObject {
    static let members: [APIMember<Profile>] = [.required("user_id", \.userID), .required(DisplayName.field, \.name)]

    let userID: UUID
    let name: String?
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

extension JSONSchema {
    static let displayName = text(1...DisplayName.maxBytes)
}
