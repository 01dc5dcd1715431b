import Accounts
import Foundation
import HeliographCrypto
import Logging
import PostgresClient
import RedisClient
import TestSupport
import Testing

@testable import ServiceDefaults

@Suite struct ConfigurationPageTests {
    private static let key = Data(repeating: 7, count: 32).base64EncodedString()
    private static let common = [
        "DATABASE_URL": "postgresql://localhost/x", "REDIS_URL": "redis://localhost",
    ]

    private func holds(_ tables: String, under heading: String) throws -> Bool {
        try GeneratedSection(heading, of: "docs/CONFIGURATION.md").holds(tables)
    }

    private func withContext(_ settings: Settings, _ body: (ServiceContext) throws -> Void) async throws {
        let context = try ServiceContext(
            name: "x", settings: settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try body(context)
        await context.postgres.shutdown()
        await context.redis.shutdown()
    }

    @Test func `the page has the settings of all services`() async throws {
        let host = Self.common.merging(["REDIS_URL": "", "REDIS_HOST": "localhost"]) { $1 }
        let traced = Self.common.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"]) { $1 }
        let tables = try await SettingsRecord.tables(
            [("", Self.common), ("With `REDIS_HOST`", host), ("With an endpoint of traces", traced)]
        ) { settings in
            try await withContext(settings) { _ in
                _ = try ServiceRunner.logLevel(settings)
                _ = try AdminServer.address(settings)
                _ = try StartChecks(settings)
            }
        }
        #expect(try holds(tables, under: "All services"))
    }

    @Test func `the page has the settings of the store of pictures`() async throws {
        let s3 = [
            "BLOB_STORE": "s3", "S3_ENDPOINT": "https://s3.example.org", "S3_BUCKET": "pictures", "S3_REGION": "eu-central-1",
            "S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "secret",
        ]
        let sealer = Sealer(keyRing: try KeyRing(parsing: "k1:\(Self.key)"))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let tables = try await SettingsRecord.tables([("", ["BLOB_STORE_PATH": "/nowhere"]), ("With `BLOB_STORE=s3`", s3)]) { settings in
            _ = try settings.blobStore(sealer: sealer, logger: logger)
        }
        #expect(try holds(tables, under: "Where pictures are kept: identity-api, face-matching-worker, image-worker, notifier"))
    }

    @Test func `the page has the keys`() async throws {
        let aws = ["AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let wrapped = TestKeys.settings().merging(aws) { $1 }
        let tables = try await SettingsRecord.tables([("", TestKeys.settings()), ("With `aws-kms:`", wrapped)]) { settings in
            for purpose in KeyPurpose.sealing { _ = try settings.sealer(purpose) }
            _ = try settings.lookupKeys()
            _ = try settings.sessionKey()
            if try settings.value("AWS_REGION", "") != nil { try await AWSKeyManagement(settings, logger: logger).shutdown() }
        }
        #expect(try holds(tables, under: "Keys: each service has those that its row names"))
    }

    @Test func `the page has the settings of links to pictures`() async throws {
        let tables = try await SettingsRecord.tables([("", ["PUBLIC_URL": "https://api.example.org", "MEDIA_LINK_KEY": Self.key])]) {
            _ = try $0.linkSigner()
        }
        #expect(try holds(tables, under: "Links to pictures: identity-api, notifier"))
    }
}
