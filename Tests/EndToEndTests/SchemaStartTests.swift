import Foundation
import HTTPClient
import Logging
import Schema
import TestSupport
import Testing

/// Services that start before `heliographctl migrate up`, as they do where an orchestrator starts everything at once.
@Suite struct SchemaStartTests {
    @Test func `services that start before the schema wait for it, fail no message, and begin by themselves`() async throws {
        let redis = try await RedisServer.shared()
        // The roles stay: they belong to the server.
        try await withMigratedDatabase { database in
            try await database.psql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            let prefix = RedisServer.uniquePrefix()
            let stream = prefix + "{user.erased}"
            let message = UUID().uuidString.lowercased()
            // Of an erasure that is not there, so that its handler asks the database and has nothing to do.
            try await redis.cli(
                "XADD", stream, "*", "i", message, "t", "user.erased", "v", "1", "k", message, "c", "1761559200125",
                "b", #"{"erasure_id":"\#(message)"}"#)
            let registry = try EarlyService(.tokenRegistry, database, redis, prefix)
            let api = try EarlyService(.identityAPI, database, redis, prefix)

            for service in [registry, api] {
                let report = try await service.eventuallyGet(service.admin + "/readyz") { $0.status == 503 }
                #expect(report.text.contains("schema: migration \(HeliographSchema.latest) is missing: run `heliographctl migrate up`"))
            }
            let refused = try await api.eventuallyGet(api.origin + "/v1/users/me") { _ in true }
            #expect(refused.status == 503)
            #expect(refused.header("retry-after") == "2")
            #expect(try await api.eventuallyGet(api.origin + "/openapi.json") { _ in true }.status == 200)
            let isTouched = try await redis.cli("XINFO", "GROUPS", stream).contains("token-registry")
            #expect(!isTouched, "a consumer reads")

            try await CommandLineTool.run(
                [PackageRoot.executable("heliographctl"), "migrate", "up", "--service-roles"], environment: ["DATABASE_URL": database.url])
            try await eventually(within: .seconds(30), "the message is handled") {
                try await database.psql("SELECT count(*) FROM inbox WHERE message_id = '\(message)' AND consumer_group = 'token-registry'")
                    == "1"
            }
            for service in [registry, api] { _ = try await service.eventuallyGet(service.admin + "/readyz") { $0.status == 200 } }
            #expect(try await api.eventuallyGet(api.origin + "/v1/users/me") { _ in true }.status == 401)
            let metrics = try await registry.eventuallyGet(registry.admin + "/metrics") { _ in true }.text.split(separator: "\n")
            let failed = metrics.filter {
                $0.hasPrefix("bus_handled_total") && ($0.contains(#"result="failed""#) || $0.contains(#"result="outage""#))
            }
            #expect(!failed.isEmpty)
            #expect(failed.allSatisfy { $0.hasSuffix(" 0") }, "\(failed)")
            for service in [registry, api] { await service.end() }
        }
    }
}

/// A service as a process, which was started without a schema.
private struct EarlyService {
    let admin: String
    /// The origin of the API of identity-api.
    let origin: String
    private let process: GuardedProcess
    private let http: HTTPClient
    /// The folder of objects and of the log, which is deleted with its last reference.
    private let folder: TemporaryDirectory

    init(_ role: ServiceRole, _ database: TestDatabase, _ redis: RedisServer, _ prefix: String) throws {
        let (adminPort, port) = (try FreePort.find(), try FreePort.find())
        admin = "http://127.0.0.1:\(adminPort)"
        origin = "http://127.0.0.1:\(port)"
        folder = try TemporaryDirectory()
        let environment = [
            "DATABASE_URL": database.connecting(as: role.name()).url, "REDIS_URL": redis.url, "REDIS_KEY_PREFIX": prefix,
            "ADMIN_PORT": "\(adminPort)", "HTTP_HOST": "127.0.0.1", "HTTP_PORT": "\(port)", "PUBLIC_URL": Stack.publicURL,
            "BLOB_STORE_PATH": folder.path, "SMTP_URL": "smtp://127.0.0.1:1", "SMTP_FROM": "no-reply@example.org",
            "MEDIA_LINK_KEY": Data(repeating: 7, count: 32).base64EncodedString(),
        ].merging(TestKeys.settings()) { $1 }
        process = try GuardedProcess(
            [PackageRoot.executable(role.rawValue)], log: ServiceLogs.folder(in: folder) + "/\(role.rawValue).log",
            environment: environment)
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http"]
        http = HTTPClient(configuration: configuration, logger: Logger(label: "schema-start") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Repeats a request until its answer is as expected.
    func eventuallyGet(_ url: String, _ isExpected: (HTTPClientResponse) -> Bool) async throws -> HTTPClientResponse {
        var last: HTTPClientResponse?
        try await process.waitUntil("GET \(url) is as expected") {
            last = try? await http.execute(HTTPClientRequest(url: url))
            return last.map(isExpected) ?? false
        }
        return try #require(last)
    }

    func end() async {
        await process.stop()
        await http.shutdown()
    }
}

extension HTTPClientResponse {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
