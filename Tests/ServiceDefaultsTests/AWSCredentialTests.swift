import Accounts
import Foundation
import HeliographCrypto
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ServiceDefaults

/// Credentials of a role, which a container or a machine is given, with moto, which checks their token too.
@Suite struct AWSCredentialTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Opens a ring that AWS KMS has wrapped, with credentials that `settings` lead to.
    private func open(_ settings: [String: String], in server: S3Server) async throws {
        let plain = ["FACE_KEYS": KeyRing.generateText()]
        let environment = ["AWS_REGION": S3Server.region, "AWS_KMS_ENDPOINT": server.url]
            .merging(try await server.wrap(plain)) { $1 }.merging(settings) { $1 }
        let opened = try await Settings(environment: environment).unwrappingKeys(logger: Self.logger)
        let sealed = try Settings(environment: plain).sealer(.faces).seal([1], context: [])
        #expect(try opened.sealer(.faces).open(sealed, context: []) == [1])
    }

    @Test func `a container opens keys with the credentials of its role`() async throws {
        let server = try await S3Server.shared()
        let token = try TemporaryDirectory()
        try "the-token-of-the-pod\n".write(toFile: token.path + "/token", atomically: true, encoding: .utf8)
        let requests = Mutex<[String]>([])
        let endpoint = try await ScriptedServer { connection in
            let request = try await connection.readRequest()
            requests.withLock { $0.append(request) }
            try await connection.writeResponse(body: server.roleCredentials)
        }
        try await open(
            [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": endpoint.url + "v1/credentials",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token.path + "/token",
            ], in: server)
        let request = try #require(requests.withLock { $0 }.first)
        #expect(request.hasPrefix("GET /v1/credentials "))
        #expect(request.lowercased().contains("authorization: the-token-of-the-pod\r\n"))
    }

    @Test func `a machine opens keys with the credentials of its role, by version 2 of its metadata service`() async throws {
        let server = try await S3Server.shared()
        let requests = Mutex<[String]>([])
        let metadata = try await ScriptedServer { connection in
            let request = try await connection.readRequest()
            requests.withLock { $0.append(request) }
            let isKnown = request.lowercased().contains("x-aws-ec2-metadata-token: session\r\n")
            switch request.split(separator: " ").prefix(2).joined(separator: " ") {
            case "PUT /latest/api/token": try await connection.writeResponse(body: "session")
            case "GET /latest/meta-data/iam/security-credentials/" where isKnown: try await connection.writeResponse(body: "a-role")
            case "GET /latest/meta-data/iam/security-credentials/a-role" where isKnown:
                try await connection.writeResponse(body: server.roleCredentials)
            default: try await connection.writeResponse("401 Unauthorized", body: "")
            }
        }
        try await open(["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(metadata.port)"], in: server)
        #expect(requests.withLock { $0.count } == 3)
    }

    @Test func `keys of a role in the settings need their token`() async throws {
        let server = try await S3Server.shared()
        let role = try #require(AWSCredentials(parsing: Array(server.roleCredentials.utf8)))
        var settings = ["AWS_ACCESS_KEY_ID": role.accessKeyID, "AWS_SECRET_ACCESS_KEY": role.secretAccessKey]
        let error = await #expect(throws: ConfigurationError.self) { try await open(settings, in: server) }
        #expect(error?.problem.contains("403") == true)
        settings["AWS_SESSION_TOKEN"] = role.sessionToken
        try await open(settings, in: server)
    }

    @Test(arguments: [("404 Not Found", "", "404"), ("200 OK", "{}", "without credentials")])
    func `an endpoint without credentials ends the start`(status: String, body: String, problem: String) async throws {
        let endpoint = try await ScriptedServer.answering(status, body: body)
        let error = await #expect(throws: ConfigurationError.self) {
            try await open(["AWS_CONTAINER_CREDENTIALS_FULL_URI": endpoint.url], in: try await S3Server.shared())
        }
        #expect(error?.name == "FACE_KEYS" && error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
    }

    @Test(arguments: [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.org/v1"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "ftp://127.0.0.1/v1"),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "v2/credentials"), ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://example.org"),
    ])
    func `an endpoint that others could be behind is refused`(name: String, value: String) {
        let error = #expect(throws: ConfigurationError.self) { try AWSCredentialSource(Settings(environment: [name: value])) }
        #expect(error?.name == name)
    }

    @Test func `the keys of a user come first, then the container, then the machine`() throws {
        let ecs = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/x"]
        let user = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]
        guard case .settings = try AWSCredentialSource(Settings(environment: ecs.merging(user) { $1 })),
            case .container("http://169.254.170.2/v2/credentials/x", nil) = try AWSCredentialSource(Settings(environment: ecs)),
            case .machine("http://169.254.169.254") = try AWSCredentialSource(Settings(environment: [:]))
        else {
            Issue.record("another source")
            return
        }
    }
}
