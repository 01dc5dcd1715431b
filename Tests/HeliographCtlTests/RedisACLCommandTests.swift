import Schema
import TestSupport
import Testing

@testable import HeliographCtl

/// The command in a process of its own, because its passwords come from the environment.
struct RedisACLCommandTests {
    private static let passwords = ServiceRole.allCases.map { "\($0.rawValue)=0123456789abcdef-\($0.rawValue)" }.joined(separator: "\n")

    private func acl(_ arguments: String..., environment: [String: String]) async throws -> String {
        try await CommandLineTool.run([PackageRoot.executable("heliographctl"), "redis", "acl"] + arguments, environment: environment)
    }

    @Test func `acl prints a line for operators and for each service, without passwords`() async throws {
        let output = try await acl(
            environment: ["SERVICE_REDIS_PASSWORDS": Self.passwords, "REDIS_OPERATOR_PASSWORD": "operators-know-this"])
        let lines = output.split(separator: "\n")
        #expect(lines.map { $0.split(separator: " ")[1] } == ["default"] + ServiceRole.allCases.map { "heliograph-\($0.rawValue)" })
        #expect(!output.contains("0123456789abcdef-") && !output.contains("operators-know-this"))
    }

    @Test func `acl is refused without the password of a service`() async throws {
        let failure = await #expect(throws: CommandLineTool.Failure.self) {
            try await acl(
                environment: ["SERVICE_REDIS_PASSWORDS": "notifier=0123456789abcdef", "REDIS_OPERATOR_PASSWORD": "operators-know-this"])
        }
        #expect(failure?.exitCode == 78)
        #expect(failure?.output.hasPrefix("SERVICE_REDIS_PASSWORDS is not valid or lacks identity-api") == true)
    }

    @Test func `acl --apply sets the users on the server`() async throws {
        let server = try await RedisServer.start()
        _ = try await acl("--apply", "--redis-url", server.url, environment: ["SERVICE_REDIS_PASSWORDS": Self.passwords])
        let users = try await server.cli("ACL", "USERS").split(separator: "\n")
        #expect(users.count == 1 + ServiceRole.allCases.count)
        await server.stop()
    }
}
