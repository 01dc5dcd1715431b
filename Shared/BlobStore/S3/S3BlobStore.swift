internal import FoundationEssentials
internal import HTTPClient
public import HeliographCrypto
public import Logging
public import NIOPosix

/// A ``BlobStore`` in a bucket of an object store that speaks Amazon's protocol.
///
/// An object's pieces go, sealed, into a nameless file of the local disk; when they are complete the object is sent by one
/// request, so that it exists whole or not at all. Sealed objects stay sealed; media are stored as they are, under the
/// store's own encryption, and links lead to them.
public struct S3BlobStore: BlobStore {
    /// The most bytes that sealing adds: a header, and a tag of 16 bytes to each 64 KiB.
    private static func sealingByteCountMax(_ plain: Int) -> Int { 1024 + plain / 2048 }

    /// What a sealed object is to a store, and to whoever finds it there.
    private static let sealedType = "application/vnd.heliograph.sealed"

    private let configuration: S3Configuration
    private let client: S3Client
    private let presigner: S3Presigner
    private let sealer: Sealer
    private let threadPool: NIOThreadPool
    private let uploads: UploadSlots

    /// Makes a store; nothing is connected before its first use.
    ///
    /// - Parameters:
    ///   - configuration: where, and as whom.
    ///   - sealer: seals and opens the objects.
    ///   - logger: told of faults of connections.
    ///   - threadPool: does the work on the spooled files; must be running.
    public init(
        configuration: S3Configuration, sealer: Sealer, logger: Logger,
        threadPool: NIOThreadPool = FileSystemBlobStore.sharedThreadPool
    ) {
        self.configuration = configuration
        self.sealer = sealer
        self.threadPool = threadPool
        client = S3Client(configuration: configuration, logger: logger)
        presigner = S3Presigner(
            endpoint: configuration.publicEndpoint ?? configuration.endpoint, region: configuration.region,
            accessKeyID: configuration.accessKeyID, secretAccessKey: configuration.secretAccessKey)
        uploads = UploadSlots(count: configuration.uploadsMax)
    }

    /// See ``BlobStore/write(_:as:_:)``. When the answer to the one request that stores the object is lost, or waiting for it is
    /// cancelled, the object may be there although this throws: whole, or not at all.
    public func write<Result: Sendable>(
        _ key: BlobKey, as access: BlobAccess, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result {
        let (sealer, directory, limit) = (sealer, configuration.spoolDirectory, configuration.objectByteCountMax)
        let context = access.kind.sealingContext(of: key)
        let spool = try await threadPool.runBlobWork { () throws(BlobStoreError) in try OpenFile(namelessIn: directory) }
        let file = try SealedFile(spool, of: key, context: context, sealer: sealer)
        let writer = FileBlobWriter(file: file, threadPool: threadPool)
        let result = try await body(writer)
        try await writer.finish(isDurable: false)

        try await uploads.withSlot {
            let content = try await threadPool.runBlobWork { () throws(BlobStoreError) in
                try spool.rewind()
                return switch access {
                case .sealed: try spool.readAll(limit: limit + Self.sealingByteCountMax(limit), of: key)
                case .media: try SealedFile.read(spool, of: key, context: context, limit: limit, sealer: sealer)
                }
            }
            _ = try await client.send(put(content, key, access))
        }
        return result
    }

    private func put(_ content: [UInt8], _ key: BlobKey, _ access: BlobAccess) -> S3Client.Request {
        var request = S3Client.Request(method: "PUT", key: key, body: content)
        switch access {
        case .sealed: request.headers = [("Content-Type", Self.sealedType)]
        case .media(let contentType):
            request.headers = [("Content-Type", contentType), ("Cache-Control", "private, max-age=86400")]
            if configuration.asksForEncryption { request.headers.append(("x-amz-server-side-encryption", "AES256")) }
        }
        return request
    }

    /// See ``BlobStore/read(_:kind:limit:)``.
    public func read(_ key: BlobKey, kind: BlobKind, limit: Int) async throws(BlobStoreError) -> [UInt8] {
        let overhead = kind == .sealed ? Self.sealingByteCountMax(limit) : 0
        let response = try await client.send(S3Client.Request(key: key, answerByteCountMax: limit + overhead))
        switch kind {
        case .media:
            guard response.body.count <= limit else { throw BlobStoreError(.tooLarge, "\(key) has more than \(limit) bytes") }
            guard response.header("Content-Type") != Self.sealedType else { throw BlobStoreError(.damaged, "\(key) is sealed") }
            return response.body
        case .sealed:
            let (sealer, context) = (sealer, kind.sealingContext(of: key))
            return try await threadPool.runBlobWork { () throws(BlobStoreError) in
                try SealedFile.open(response.body, of: key, context: context, limit: limit, sealer: sealer)
            }
        }
    }

    /// See ``BlobStore/openMedia(_:limit:)``. Each piece is a request.
    public func openMedia(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> any BlobReader {
        try await S3BlobReader(key, limit: limit, sealedType: Self.sealedType, client: client)
    }

    /// See ``BlobStore/link(to:expires:)``.
    public func link(to key: BlobKey, expires: Duration) -> String? {
        let seconds = min(max(1, expires.components.seconds), Int64(S3Presigner.secondsMax))
        let now = Date()
        // Caches between may keep it until the link ends. An instant, because the age would count from whenever it is fetched.
        let end = S3Presigner.httpDate(now.addingTimeInterval(Double(seconds)))
        return presigner.link(
            toPath: "/\(configuration.bucket)/\(key.name)", seconds: Int(seconds), now: now,
            overrides: [("response-cache-control", "public"), ("response-expires", end)])
    }

    /// See ``BlobStore/delete(_:)``.
    public func delete(_ keys: [BlobKey]) async throws(BlobStoreError) {
        try await toTheEnd { () throws(BlobStoreError) in try await deleteEach(keys) }
    }

    /// See ``BlobStore/deleteAll(under:)``.
    public func deleteAll(under prefix: BlobKey) async throws(BlobStoreError) {
        try await toTheEnd { () throws(BlobStoreError) in
            try await forEachPage(under: prefix) { page throws(BlobStoreError) in
                try await deleteEach(try page.map { entry throws(BlobStoreError) in try BlobKey(entry.key) })
            }
        }
    }

    /// See ``BlobStore/deleteStale(under:olderThan:)``. Interrupted writes leave nothing here.
    public func deleteStale(under prefix: BlobKey, olderThan age: Duration) async throws(BlobStoreError) -> Int {
        var groups: [Substring: [S3Document.Entry]] = [:]
        try await forEachPage(under: prefix) { page throws(BlobStoreError) in
            for entry in page { groups[entry.key.dropFirst(prefix.name.count + 1).prefix { $0 != "/" }, default: []].append(entry) }
        }
        let cutoff = Date(timeIntervalSinceNow: -Double(age.components.seconds)).formatted(.iso8601).dropLast()
        var count = 0
        var failure: BlobStoreError?
        // Times of that form sort like what they mean.
        for entries in groups.values where entries.allSatisfy({ $0.modified.prefix(cutoff.count) <= cutoff }) {
            do throws(BlobStoreError) {
                try await delete(try entries.map { entry throws(BlobStoreError) in try BlobKey(entry.key) })
                count += 1
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return count
    }

    // MARK: Lists and deletions

    /// Goes through the objects whose keys begin with a key and a slash, a thousand at a time.
    private func forEachPage(
        under prefix: BlobKey, _ body: ([S3Document.Entry]) async throws(BlobStoreError) -> Void
    ) async throws(BlobStoreError) {
        var token: String?
        repeat {
            let start = token.map { "continuation-token=\(S3Presigner.encoded($0))&" } ?? ""
            let query = "\(start)list-type=2&prefix=\(S3Presigner.encoded(prefix.name + "/"))"
            let document = S3Document(try await client.send(S3Client.Request(query: query)).body)
            guard let isTruncated = document.text(of: "IsTruncated") else {
                throw BlobStoreError(.unavailable, "the store's list of \(prefix) makes no sense")
            }
            try await body(document.entries)
            token = isTruncated == "true" ? document.text(of: "NextContinuationToken") : nil
        } while token != nil
    }

    /// Deletes objects by a request each: stores differ in what they ask of a request for many.
    private func deleteEach(_ keys: [BlobKey]) async throws(BlobStoreError) {
        let failure = await withTaskGroup(of: BlobStoreError?.self) { group in
            var failure: BlobStoreError?
            for (number, key) in keys.enumerated() {
                if number >= configuration.deletionsMax, let ended = await group.next() { failure = failure ?? ended }
                group.addTask {
                    do throws(BlobStoreError) {
                        _ = try await client.send(S3Client.Request(method: "DELETE", key: key))
                    } catch {
                        return error.code == .notFound ? nil : error
                    }
                    return nil
                }
            }
            for await ended in group { failure = failure ?? ended }
            return failure
        }
        if let failure { throw failure }
    }

    /// Runs work that must happen even though its task is cancelled, or because of that.
    private func toTheEnd(_ work: @escaping @Sendable () async throws(BlobStoreError) -> Void) async throws(BlobStoreError) {
        let outcome = await Task { () -> Swift.Result<Void, BlobStoreError> in
            do throws(BlobStoreError) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }.value
        try outcome.get()
    }
}
