/// The role of a service in the database; migrations, and operators, use the role that owns the tables.
public enum ServiceRole: String, Sendable, CaseIterable {
    case identityAPI = "identity-api"
    case faceMatchingWorker = "face-matching-worker"
    case imageWorker = "image-worker"
    case tokenRegistry = "token-registry"
    case notifier = "notifier"

    /// The beginning of the names of all roles.
    public static let defaultPrefix = "heliograph"

    /// Returns the name in Postgres, such as `heliograph_identity_api`.
    ///
    /// - Parameter prefix: Roles belong to a whole server: two installations on one server need two prefixes.
    public func name(prefix: String = Self.defaultPrefix) -> String {
        "\(prefix)_" + rawValue.map { $0 == "-" ? "_" : String($0) }.joined()
    }
}
