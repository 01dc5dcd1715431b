internal import FoundationEssentials
internal import HTTPClient
public import HeliographCrypto
public import Logging
public import NIOPosix

/// A ``BlobStore`` in a bucket of an S3-compatible object store.
///
/// The pieces of an object are written, sealed, to an unlinked local file. When they are complete, the object is sent in one
/// request, so that it exists whole or not at all. Sealed objects stay sealed; media are stored unsealed, under the store's own
/// encryption, and links lead to them.
public struct S3BlobStore: BlobStore {
    /// Returns the most bytes that sealing adds: a header, and a tag of 16 bytes for each 64 KiB.
    static func maxSealingByteCount(_ plain: Int) -> Int { 1024 + plain / 2048 }

    /// The MIME type of sealed objects.
    static let sealedType = "application/vnd.heliograph.sealed"

    private let configuration: S3Configuration
    let client: S3Client
    private let links: S3Links
    let sealer: Sealer
    let threadPool: NIOThreadPool
    private let uploads: UploadSemaphore

    /// Makes a store, which connects on first use.
    ///
    /// - Parameters:
    ///   - configuration: Address, bucket, credentials and limits.
    ///   - sealer: Seals and opens the objects.
    ///   - logger: The logger of the HTTP client.
    ///   - threadPool: Runs the work on the spooled files; must be running.
    public init(
        configuration: S3Configuration, sealer: Sealer, logger: Logger,
        threadPool: NIOThreadPool = FileSystemBlobStore.sharedThreadPool
    ) {
        self.configuration = configuration
        self.sealer = sealer
        self.threadPool = threadPool
        client = S3Client(configuration: configuration, logger: logger)
        links = S3Links(configuration: configuration)
        uploads = UploadSemaphore(count: configuration.maxConcurrentUploads)
    }

    /// See ``BlobStore/write(_:as:_:)``. When the response to the storing request is lost, or the wait for it is cancelled, this
    /// throws although the object may exist, whole.
    public func write<Result: Sendable>(
        _ key: BlobKey, as access: BlobAccess, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result {
        let (sealer, directory, limit) = (sealer, configuration.spoolDirectory, configuration.maxObjectByteCount)
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
                case .sealed: try spool.readAll(limit: limit + Self.maxSealingByteCount(limit), of: key)
                case .media: try SealedFile.read(spool, of: key, context: context, limit: limit, sealer: sealer)
                }
            }
            _ = try await client.send(put(content, key, access))
        }
        return result
    }

    func put(_ content: [UInt8], _ key: BlobKey, _ access: BlobAccess) -> S3Client.Request {
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
        let overhead = kind == .sealed ? Self.maxSealingByteCount(limit) : 0
        let response = try await client.send(S3Client.Request(key: key, maxResponseByteCount: limit + overhead))
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

    /// See ``BlobStore/openMedia(_:limit:)``. Each piece is read by one request.
    public func openMedia(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> any BlobReader {
        try await S3BlobReader(key, limit: limit, sealedType: Self.sealedType, client: client)
    }

    /// See ``BlobLinks/link(to:expires:)``.
    public func link(to key: BlobKey, expires: Duration) -> String? { links.link(to: key, expires: expires) }

    /// See ``BlobStore/delete(_:)``.
    public func delete(_ keys: [BlobKey]) async throws(BlobStoreError) {
        try await uncancelled { () async throws(BlobStoreError) in try await deleteEach(keys) }
    }

    /// See ``BlobStore/deleteAll(under:)``.
    public func deleteAll(under prefix: BlobKey) async throws(BlobStoreError) {
        try await uncancelled { () async throws(BlobStoreError) in
            try await forEachPage(under: prefix) { page throws(BlobStoreError) in
                try await deleteEach(try page.map { entry throws(BlobStoreError) in try BlobKey(entry.key) })
            }
        }
    }

    /// See ``BlobStore/deleteStale(under:olderThan:)``. Interrupted writes leave nothing in the bucket.
    public func deleteStale(under prefix: BlobKey, olderThan age: Duration) async throws(BlobStoreError) -> Int {
        var groups: [Substring: [S3Document.Entry]] = [:]
        try await forEachPage(under: prefix) { page throws(BlobStoreError) in
            for entry in page { groups[entry.key.dropFirst(prefix.name.count + 1).prefix { $0 != "/" }, default: []].append(entry) }
        }
        let cutoff = Date(timeIntervalSinceNow: -Double(age.components.seconds)).formatted(.iso8601).dropLast()
        var count = 0
        var failure: BlobStoreError?
        // ISO 8601 times sort chronologically as text.
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

    /// Calls `body` with each page of the objects whose keys begin with `prefix` and a slash.
    private func forEachPage(
        under prefix: BlobKey, _ body: ([S3Document.Entry]) async throws(BlobStoreError) -> Void
    ) async throws(BlobStoreError) {
        var token: String?
        repeat {
            let page = try await list(under: prefix, from: token)
            try await body(page.entries)
            token = page.next
        } while token != nil
    }

    /// Returns a page of the objects whose keys begin with `prefix` and a slash, and the token of the next page.
    func list(under prefix: BlobKey, from token: String?) async throws(BlobStoreError) -> (entries: [S3Document.Entry], next: String?) {
        let start = token.map { "continuation-token=\(S3Presigner.encoded($0))&" } ?? ""
        let query = "\(start)list-type=2&prefix=\(S3Presigner.encoded(prefix.name + "/"))"
        let document = S3Document(try await client.send(S3Client.Request(query: query)).body)
        guard let isTruncated = document.text(of: "IsTruncated") else {
            throw BlobStoreError(.unavailable, "the store's list of \(prefix) cannot be parsed")
        }
        return (document.entries, isTruncated == "true" ? document.text(of: "NextContinuationToken") : nil)
    }

    /// Deletes objects by a request each, because stores differ in their rules for bulk deletions.
    private func deleteEach(_ keys: [BlobKey]) async throws(BlobStoreError) {
        let failure = await withTaskGroup(of: BlobStoreError?.self) { group in
            var failure: BlobStoreError?
            for (number, key) in keys.enumerated() {
                if number >= configuration.maxConcurrentDeletions, let ended = await group.next() { failure = failure ?? ended }
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
}
