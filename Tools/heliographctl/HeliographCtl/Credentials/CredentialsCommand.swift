internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import WireFormat

/// The commands for the API keys of apps' own servers, the rows of `service_credentials`.
struct CredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Make, list and revoke API keys for apps' own servers.",
        subcommands: [CredentialsCreateCommand.self, CredentialsListCommand.self, CredentialsRevokeCommand.self]
    )
}

extension ServiceCredential {
    /// The scopes in alphabetical order.
    var scopeNames: [String] { scopes.map(\.rawValue).sorted() }

    /// Whether it is accepted, in a word.
    var status: String {
        if revokedAt != nil { return "revoked" }
        return isValid() ? "valid" : "expired"
    }

    /// The credential as JSON, without its secret.
    var json: JSONRecord {
        [
            "id": id.wireString, "app": app, "name": name, "scopes": scopeNames, "status": status, "created_at": createdAt,
            "expires_at": expiresAt, "revoked_at": revokedAt, "last_used_at": lastUsedAt,
        ]
    }
}
