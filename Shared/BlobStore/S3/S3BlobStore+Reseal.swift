internal import HTTPClient
internal import HeliographCrypto
internal import NIOCore

/// Pictures that links lead to are not sealed in an object store, so that a rotation leaves them alone.
extension S3BlobStore: SealedBlobs {
    /// See ``SealedBlobs/forEachSealed(under:_:)``.
    public func forEachSealed(under prefix: BlobKey, _ body: ([SealedBlob]) async throws -> Void) async throws {
        var token: String?
        repeat {
            let page = try await list(under: prefix, from: token)
            for entry in page.entries {
                guard let blob = try await sealedBlob(BlobKey(entry.key)) else { continue }
                try await body([blob])
            }
            token = page.next
        } while token != nil
    }

    /// Reads the header of an object; nil when it is gone or not sealed.
    private func sealedBlob(_ key: BlobKey) async throws(BlobStoreError) -> SealedBlob? {
        do throws(BlobStoreError) {
            let piece = try await client.piece(of: key, 0..<SealedSegments.maxHeaderByteCount)
            return piece.type == Self.sealedType ? SealedBlob(key: key, keyID: Sealer.keyID(of: piece.bytes)) : nil
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// See ``SealedBlobs/reseal(_:limit:)``. A store that ignores `If-Match` may bring an object back that is deleted in that moment; a
    /// sweeper deletes it at the end of its lifetime.
    public func reseal(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> Bool {
        do throws(BlobStoreError) {
            let response = try await client.send(S3Client.Request(key: key, maxResponseByteCount: limit + Self.maxSealingByteCount(limit)))
            let (sealer, context) = (sealer, BlobKind.sealed.sealingContext(of: key))
            let sealed = try await threadPool.runBlobWork { () throws(BlobStoreError) in
                let plain = try SealedFile.open(response.body, of: key, context: context, limit: limit, sealer: sealer)
                return try SealedFile.seal(plain, of: key, context: context, sealer: sealer)
            }
            var request = put(sealed, key, .sealed)
            if let tag = response.header("ETag") { request.headers.append(("If-Match", tag)) }
            _ = try await client.send(request)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// See ``SealedBlobs/verify(_:limit:)``.
    public func verify(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> Bool {
        do throws(BlobStoreError) {
            _ = try await read(key, kind: .sealed, limit: limit)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }
}
