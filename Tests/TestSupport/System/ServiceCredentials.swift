import Foundation
import Schema

/// What each service of a stack is given apart from the others, as in production: a role, a user and its keys.
struct ServiceCredentials: Sendable {
    /// In place of a key that the service is not given: a service that reads it does not start.
    private static let withheld = "withheld"

    private let passwords = Dictionary(uniqueKeysWithValues: ServiceRole.allCases.map { ($0, UUID().uuidString) })

    /// Writes the ACL file of Redis and returns its path. The user `default` is not in it, and so stays without a password, for tests.
    func writeACL(in folder: TemporaryDirectory) async throws -> String {
        let output = try await CommandLineTool.run(
            [PackageRoot.executable("heliographctl"), "redis", "acl"],
            environment: [
                "SERVICE_REDIS_PASSWORDS": passwords.map { "\($0.rawValue)=\($1)" }.joined(separator: "\n"),
                "REDIS_OPERATOR_PASSWORD": UUID().uuidString,
            ])
        let users = output.split(separator: "\n").filter { $0.hasPrefix("user heliograph-") }.map { $0 + "\n" }
        let path = folder.path + "/users.acl"
        try users.joined().write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Returns an address of Redis without a user, as that of the user of a service.
    func redisURL(_ url: String, of role: ServiceRole) -> String {
        url.replacing("://", with: "://heliograph-\(role.rawValue):\(passwords[role] ?? "")@", maxReplacements: 1)
    }

    /// Returns settings in which the keys of other services are withheld.
    func withholdingKeys(from role: ServiceRole, _ settings: [String: String]) -> [String: String] {
        let foreign = TestKeys.settings(withheldFrom: role)
        return settings.merging(foreign.map { ($0, Self.withheld) }) { $1 }
    }
}
