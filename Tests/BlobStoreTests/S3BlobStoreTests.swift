import BlobStore
import Foundation
import HTTPClient
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

/// The behaviour specific to S3: credentials, buckets, pages, links, and failing stores.
@Suite struct S3BlobStoreTests {
    private static let jpeg = BlobAccess.media(contentType: "image/jpeg")
    private let keys = Keys(prefix: "t\(UUID().uuidString.lowercased())")

    /// Reads an object directly from the bucket, without opening it.
    private func raw(_ key: BlobKey, of server: S3Server) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(
            url: "\(server.url)/\(S3Server.bucket)/\(key)",
            headers: [("x-amz-content-sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")])
        request.awsSignature = AWSSignature(
            region: S3Server.region, service: "s3", accessKeyID: server.accessKeyID, secretAccessKey: server.secretAccessKey)
        return try await plainHTTP().execute(request)
    }

    private func plainHTTP() -> HTTPClient {
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http"]
        return HTTPClient(configuration: configuration, logger: Logger(label: "test"))
    }

    @Test func `Sealed objects are unreadable in the bucket, and media are stored unsealed`() async throws {
        let server = try await S3Server.shared()
        let store = try s3Store(server)
        let picture = Array("a very private picture".utf8)
        try await store.write(picture, to: try keys("sealed"))
        try await store.write(picture, to: try keys("media"), as: Self.jpeg)

        let sealed = try await raw(keys("sealed"), of: server)
        #expect(sealed.status == 200 && sealed.body.count > picture.count)
        #expect(!String(decoding: sealed.body, as: UTF8.self).contains("private"))
        let media = try await raw(keys("media"), of: server)
        #expect(media.body == picture)
        #expect(media.header("Content-Type") == "image/jpeg")
        #expect(media.header("x-amz-server-side-encryption") == "AES256")
        #expect(media.header("Cache-Control")?.contains("private") == true)
    }

    @Test func `Encryption is not requested from a store that refuses such requests`() async throws {
        let asked = Recorder()
        let strict = try await ScriptedServer { connection in
            let request = try await connection.readRequest()
            asked.add(request)
            let refuses = request.lowercased().contains("x-amz-server-side-encryption")
            try await connection.writeResponse(
                refuses ? "501 No" : "200 OK", body: refuses ? "<Error><Code>NotImplemented</Code></Error>" : "")
        }
        let server = try await S3Server.shared()
        let asking = try s3Store(server) { $0.endpoint = "http://127.0.0.1:\(strict.port)" }
        let failure = await blobFailure { try await asking.write([1], to: try keys("a"), as: Self.jpeg) }
        #expect(failure?.message.contains("NotImplemented") == true)
        #expect(asked.requests.count == 1)
        let silent = try s3Store(server) {
            $0.endpoint = "http://127.0.0.1:\(strict.port)"
            $0.asksForEncryption = false
        }
        try await silent.write([1], to: try keys("a"), as: Self.jpeg)
    }

    @Test func `A sealed object that was moved to another key, or truncated, does not open`() async throws {
        let server = try await S3Server.shared()
        let store = try s3Store(server)
        try await store.write([UInt8](repeating: 7, count: 100_000), to: try keys("a"))
        let sealed = try await raw(keys("a"), of: server).body
        for (name, bytes) in [("moved", sealed), ("a", Array(sealed.dropLast())), ("a", [])] {
            try await store.write(bytes, to: try keys(name), as: .media(contentType: "application/vnd.heliograph.sealed"))
            #expect(try await store.readingFailure(keys(name)) == .damaged)
        }
    }

    @Test func `Another sealing key does not open an object`() async throws {
        let server = try await S3Server.shared()
        try await s3Store(server).write([1], to: try keys("a"))
        let other = try s3Store(server, sealer: 2)
        #expect(try await other.readingFailure(keys("a")) == .damaged)
    }

    @Test func `Wrong credentials make the store unavailable, and are not shown`() async throws {
        let server = try await S3Server.shared()
        let wrong: [(code: String, change: @Sendable (inout S3Configuration) -> Void)] = [
            ("SignatureDoesNotMatch", { $0.secretAccessKey = "garbage-that-is-secret" }),
            ("InvalidAccessKeyId", { $0.accessKeyID = "AKIAGARBAGE" }),
        ]
        for (code, change) in wrong {
            let store = try s3Store(server, configure: change)
            let failures = [
                await blobFailure { try await store.write([1], to: try keys("a")) },
                await blobFailure { _ = try await store.read(try keys("a"), limit: 10) },
                await blobFailure { try await store.delete([try keys("a")]) },
                await blobFailure { try await store.deleteAll(under: try keys("a")) },
            ]
            for failure in failures {
                #expect(failure?.code == .unavailable)
                #expect(failure?.message.contains(code) == true)
                #expect(failure?.description.contains("secret") == false)
            }
        }
    }

    @Test func `A missing bucket makes the store unavailable and not the object missing`() async throws {
        let store = try s3Store(try await S3Server.shared()) { $0.bucket = "no-such-bucket" }
        let failures = [
            await blobFailure { try await store.write([1], to: try keys("a")) },
            await blobFailure { _ = try await store.read(try keys("a"), limit: 10) },
            await blobFailure { _ = try await store.deleteStale(under: try keys.all, olderThan: .zero) },
        ]
        for failure in failures {
            #expect(failure?.code == .unavailable)
            #expect(failure?.message.contains("NoSuchBucket") == true)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `All objects are swept when a list has several pages`() async throws {
        let store = try s3Store(try await S3Server.shared())
        let count = 1_010
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 16 { try await group.next() }
                group.addTask { try await store.write([1], to: try keys("many/\(number % 3)/\(number)"), as: Self.jpeg) }
            }
            try await group.waitForAll()
        }
        #expect(try await store.deleteStale(under: try keys("many"), olderThan: .seconds(3600)) == 0)
        #expect(try await store.deleteStale(under: try keys("many"), olderThan: .zero) == 3)
        #expect(try await store.readingFailure(keys("many/1/1009"), kind: .media) == .notFound)
        #expect(try await store.deleteStale(under: try keys("many"), olderThan: .zero) == 0)
    }

    @Test func `A link allows reading without credentials, and caching until it expires`() async throws {
        let server = try await S3Server.start(checksSignatures: false)
        let store = try s3Store(server)
        try await store.write([1, 2, 3], to: try keys("a"), as: Self.jpeg)
        let link = try #require(store.link(to: keys("a"), expires: .seconds(60)))
        let response = try await plainHTTP().execute(HTTPClientRequest(url: link))
        #expect(response.status == 200)
        #expect(response.body == [1, 2, 3])
        #expect(response.header("Content-Type") == "image/jpeg")
        #expect(link.contains("X-Amz-Expires=60&"))
        #expect(response.header("Cache-Control") == "public")
        #expect(response.header("Expires")?.hasSuffix(" GMT") == true)
        #expect(try store.link(to: keys("a"), expires: .seconds(10_000_000))?.contains("X-Amz-Expires=604800&") == true)
    }

    @Test func `A link has the public endpoint of the store`() throws {
        var configuration = S3Configuration(
            endpoint: "http://minio:9000", bucket: "pictures", region: "eu-central-1", accessKeyID: "id", secretAccessKey: "secret")
        configuration.publicEndpoint = "https://pictures.example.org/"
        let store = S3BlobStore(configuration: configuration, sealer: try testSealer(), logger: Logger(label: "test"))
        let link = store.link(to: try keys("a"), expires: .seconds(60))
        #expect(link?.hasPrefix("https://pictures.example.org/pictures/\(keys.prefix)/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&") == true)
        #expect(link?.contains("secret") == false)
    }

    // MARK: Stores that fail

    @Test func `A broken connection is reopened`() async throws {
        let server = try await S3Server.shared()
        let proxy = try await FaultProxy.start(to: .tcp(port: server.port))
        let store = try s3Store(server) { $0.endpoint = "http://127.0.0.1:\(proxy.port)" }
        try await proxy.set(.held)
        let write = Task { try await store.write([1, 2, 3], to: try keys("a")) }
        try await eventually("the store connects", isTrue: { try await proxy.connectionCount() > 0 })
        try await proxy.cut()
        try await proxy.set(.flowing)
        try await write.value
        #expect(try await store.read(try keys("a"), limit: 3) == [1, 2, 3])
        await proxy.stop()
    }

    @Test func `Objects are stored over new connections when the kept ones are silent`() async throws {
        // One that keeps its connections, as the server of the other tests does not.
        let keeping = try await ScriptedServer { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let proxy = try await FaultProxy.start(to: .tcp(port: keeping.port))
        let store = try s3Store(try await S3Server.shared()) {
            ($0.endpoint, $0.silenceLimit) = ("http://127.0.0.1:\(proxy.port)", .milliseconds(2500))
        }
        try await race(4) { number in try await store.write([1], to: try keys("before\(number)")) }
        try await proxy.freeze()
        let start = ContinuousClock.now
        try await race(4) { number in try await store.write([2], to: try keys("after\(number)")) }
        let duration = ContinuousClock.now - start
        #expect(duration >= .milliseconds(2500), "a connection was kept")
        #expect(duration < .seconds(30), "an attempt has 60 s")
        await proxy.stop()
    }

    @Test func `A request to a busy store is retried a limited number of times`() async throws {
        let busy = try await ScriptedServer.answering(
            "503 Slow Down",
            body: "<?xml version=\"1.0\"?><Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>")
        let store = try s3Store(try await S3Server.shared()) { $0.endpoint = "http://127.0.0.1:\(busy.port)" }
        let failure = await blobFailure { try await store.write([1], to: try keys("a")) }
        #expect(failure?.code == .unavailable)
        #expect(failure?.message.contains("SlowDown") == true)
        #expect(busy.connectionCount == 4)
    }

    @Test func `An unreachable store is unavailable`() async throws {
        let port = try FreePort.find()
        let store = try s3Store(try await S3Server.shared()) { $0.endpoint = "http://127.0.0.1:\(port)" }
        #expect(try await store.readingFailure(keys("a")) == .unavailable)
        #expect(await blobFailure { try await store.delete([try keys("a")]) }?.code == .unavailable)
    }

    @Test func `A response that is not a list of objects is not an empty list`() async throws {
        let odd = try await ScriptedServer.answering(body: "hello")
        let store = try s3Store(try await S3Server.shared()) { $0.endpoint = "http://127.0.0.1:\(odd.port)" }
        #expect(await blobFailure { try await store.deleteAll(under: try keys("a")) }?.code == .unavailable)
    }

    @Test func `An object above the store's limit is not sent`() async throws {
        let store = try s3Store(try await S3Server.shared()) { $0.maxObjectByteCount = 100_000 }
        for access in [BlobAccess.sealed, Self.jpeg] {
            let failure = await blobFailure { try await store.write([UInt8](repeating: 1, count: 200_000), to: try keys("a"), as: access) }
            #expect(failure?.code == .tooLarge)
        }
    }

    @Test func `Many large objects are stored although only a few are sent at a time`() async throws {
        let store = try s3Store(try await S3Server.shared())
        try await race(12) { number in
            let bytes = [UInt8](repeating: UInt8(number), count: 300_000)
            try await store.write(bytes, to: try keys("\(number)"))
            #expect(try await store.read(try keys("\(number)"), limit: 300_000) == bytes)
        }
    }
}

/// Records the requests of a scripted server.
private final class Recorder: Sendable {
    private let log = Mutex<[String]>([])
    var requests: [String] { log.withLock { $0 } }
    func add(_ request: String) { log.withLock { $0.append(request) } }
}
