public import FoundationEssentials
internal import PostgresClient

/// A permission of a credential.
public enum ServiceScope: String, Sendable, CaseIterable {
    /// Create topics that belong to the app, and change their members without invitations.
    case writeTopics = "topics:write"
    /// Request notifications.
    case notify
    /// Request notifications in the lane `urgent`, which sign-ins wait in too.
    case notifyUrgently = "notify:urgent"
    /// Erase users.
    case eraseUsers = "users:erase"
}

/// A credential of an app's own server: a row of `service_credentials`.
public struct ServiceCredential: Sendable, Equatable {
    /// The id, which is part of the key.
    public let id: UUID
    /// The app that owns the topics and notifications made with it.
    public let app: String
    /// The operator's name for it.
    public let name: String
    /// Its permissions.
    public let scopes: Set<ServiceScope>
    /// When it was created.
    public let createdAt: Date
    /// When it ends; nil for never.
    public let expiresAt: Date?
    /// When it was revoked.
    public let revokedAt: Date?
    /// When it was last used, at most a minute too early; nil for never.
    public let lastUsedAt: Date?
    /// SHA-256 of the secret.
    public let secretHash: [UInt8]

    /// Whether it is accepted at a time.
    public func isValid(at time: Date = Date()) -> Bool { revokedAt == nil && expiresAt.map { $0 > time } ?? true }

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        app = try row.decode("app")
        name = try row.decode("name")
        scopes = Set(try row.decode("scopes", as: [String].self).compactMap(ServiceScope.init(rawValue:)))
        createdAt = try row.decode("created_at")
        expiresAt = try row.decode("expires_at")
        revokedAt = try row.decode("revoked_at")
        lastUsedAt = try row.decode("last_used_at")
        secretHash = try row.decode("secret_hash")
    }
}

/// A credential to insert.
public struct NewServiceCredential: Sendable {
    /// The app: 1 to 32 of a-z, 0-9 and -, not beginning with -.
    public var app: String
    /// The operator's name for it; 1 to 80 characters.
    public var name: String
    /// Its permissions; at least one scope.
    public var scopes: Set<ServiceScope>
    /// The time until it ends; nil for never.
    public var lifetime: Duration?

    /// Describes a credential.
    public init(app: String, name: String, scopes: Set<ServiceScope>, lifetime: Duration? = nil) {
        self.app = app
        self.name = name
        self.scopes = scopes
        self.lifetime = lifetime
    }
}
