import Accounts
import Logging
import PostgresClient
import RedisClient
import ServiceDefaults
import Testing

@Suite struct BlobStoreSettingsTests {
    private static let s3 = [
        "BLOB_STORE": "s3", "S3_ENDPOINT": "https://s3.example", "S3_BUCKET": "pictures", "S3_REGION": "eu-central-1",
        "S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "secret",
    ]

    /// The error line of the start, or nil when the service has a store.
    private func complaint(_ environment: [String: String]) async throws -> String? {
        let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
        let base = [
            "DATABASE_URL": "postgresql://localhost/x", "REDIS_URL": "redis://localhost", "PICTURE_KEYS": "k1:\(key)",
        ]
        let context = try ServiceContext(
            name: "x", settings: Settings(environment: base.merging(environment) { $1 }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var complaint: String?
        do {
            _ = try context.blobStore(.pictures)
        } catch let error as ConfigurationError {
            complaint = error.description
        }
        await context.postgres.shutdown()
        await context.redis.shutdown()
        return complaint
    }

    @Test func `a folder is sufficient, and the default`() async throws {
        #expect(try await complaint(["BLOB_STORE_PATH": "/nowhere"]) == nil)
        #expect(try await complaint(["BLOB_STORE": "file", "BLOB_STORE_PATH": "/nowhere"]) == nil)
        #expect(try await complaint([:]) == "BLOB_STORE_PATH is missing: it should be a folder that identity-api and the workers share")
    }

    @Test func `an object store needs its five settings`() async throws {
        #expect(try await complaint(Self.s3) == nil)
        for name in Self.s3.keys where name != "BLOB_STORE" {
            let line = try await complaint(Self.s3.filter { $0.key != name })
            #expect(line?.hasPrefix("\(name) is missing: it should be ") == true)
        }
    }

    @Test(arguments: [
        ("BLOB_STORE", "tape", "BLOB_STORE is not valid: it should be file or s3"),
        (
            "S3_ENDPOINT", "s3.example",
            "S3_ENDPOINT is not valid: it should be the address of an object store without the bucket, such as "
                + "https://s3.eu-central-1.amazonaws.com"
        ),
        (
            "S3_PUBLIC_ENDPOINT", "x",
            "S3_PUBLIC_ENDPOINT is not valid: it should be the address of an object store without the bucket, "
                + "such as https://s3.eu-central-1.amazonaws.com"
        ),
        ("S3_ENCRYPTION", "rot13", "S3_ENCRYPTION is not valid: it should be AES256 or none"),
        ("S3_BUCKET", "My Bucket", "S3_BUCKET is not valid: it should be the name of a bucket"),
        ("S3_REGION", "EU!", "S3_REGION is not valid: it should be the region of the bucket, such as eu-central-1"),
    ])
    func `an invalid setting is named with its expected value`(name: String, value: String, line: String) async throws {
        #expect(try await complaint(Self.s3.merging([name: value]) { $1 }) == line)
    }
}
