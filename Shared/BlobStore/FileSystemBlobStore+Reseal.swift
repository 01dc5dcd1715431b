internal import FoundationEssentials
internal import HeliographCrypto
internal import NIOCore

extension FileSystemBlobStore: SealedBlobs {
    /// The most objects of a page.
    private static let pageSize = 100

    /// See ``SealedBlobs/forEachSealed(under:_:)``.
    public func forEachSealed(under prefix: BlobKey, _ body: ([SealedBlob]) async throws -> Void) async throws {
        let root = path(prefix)
        let names = try await run { () throws(BlobStoreError) in try Disk.files(under: root) }
        for start in stride(from: 0, to: names.count, by: Self.pageSize) {
            let page = names[start..<min(start + Self.pageSize, names.count)]
            let blobs = try await run { () throws(BlobStoreError) in
                var blobs: [SealedBlob] = []
                for name in page {
                    let key = try BlobKey("\(prefix.name)/\(name)")
                    do throws(BlobStoreError) {
                        let header = try OpenFile(reading: "\(root)/\(name)").read(atMost: SealedSegments.maxHeaderByteCount)
                        blobs.append(SealedBlob(key: key, keyID: Sealer.keyID(of: header)))
                    } catch {
                        guard error.code == .notFound else { throw error }
                    }
                }
                return blobs
            }
            try await body(blobs)
        }
    }

    /// See ``SealedBlobs/reseal(_:limit:)``.
    public func reseal(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> Bool {
        let (directory, path, sealer) = ("\(root)/\(Self.partialDirectory)", path(key), sealer)
        return try await run { () throws(BlobStoreError) in
            do throws(BlobStoreError) {
                let (kind, bytes) = try Self.open(path, of: key, limit: limit, sealer: sealer)
                try Disk.makeDirectory(directory)
                let partial = "\(directory)/\(UUID().uuidString)"
                let file = try SealedFile(OpenFile(creating: partial), of: key, context: kind.sealingContext(of: key), sealer: sealer)
                do throws(BlobStoreError) {
                    try file.append(ByteBuffer(bytes: bytes))
                    try file.finish(isDurable: true)
                    // The new file takes the old one's name only if the old one is still there.
                    try Disk.exchange(partial, with: path)
                } catch {
                    file.discard()
                    try Disk.remove(partial)
                    throw error
                }
                try Disk.remove(partial)
                return true
            } catch {
                guard error.code == .notFound else { throw error }
                return false
            }
        }
    }

    /// See ``SealedBlobs/verify(_:limit:)``.
    public func verify(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> Bool {
        let (path, sealer) = (path(key), sealer)
        return try await run { () throws(BlobStoreError) in
            do throws(BlobStoreError) {
                _ = try Self.open(path, of: key, limit: limit, sealer: sealer)
                return true
            } catch {
                guard error.code == .notFound else { throw error }
                return false
            }
        }
    }

    /// Opens an object of either kind: its context says which it is.
    private static func open(
        _ path: String, of key: BlobKey, limit: Int, sealer: Sealer
    ) throws(BlobStoreError) -> (BlobKind, [UInt8]) {
        func read(_ kind: BlobKind) throws(BlobStoreError) -> (BlobKind, [UInt8]) {
            let context = kind.sealingContext(of: key)
            return (kind, try SealedFile.read(OpenFile(reading: path), of: key, context: context, limit: limit, sealer: sealer))
        }
        do throws(BlobStoreError) {
            return try read(.media)
        } catch {
            guard error.code == .damaged else { throw error }
            return try read(.sealed)
        }
    }
}
