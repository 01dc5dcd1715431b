internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import HeliographCrypto
internal import Hummingbird
internal import NIOCore

/// Answers `GET` and `HEAD /media/…`: pictures, to the holder of a signed link.
///
/// The object of a link never changes, because keys are not reused, so its entity tag stays valid.
struct MediaController: Sendable {
    /// The maximum size of a served object: 64 MiB.
    private static let maxObjectBytes = 64 * 1024 * 1024

    let blobs: any BlobStore
    let signer: MediaLinkSigner
    /// Limits the number of concurrent downloads; a piece of each picture is in memory.
    let slots: UploadSlots

    func file(_ call: APICall<Void, MediaLink, EmptyBody>) async throws -> Response {
        let (link, headers, context) = (call.target, call.head.headerFields, call.context)
        // One response to every invalid link: it does not disclose which part is wrong.
        guard let grant = signer.verify(path: link.path, expiry: link.expiry, signature: link.signature) else { throw Self.notFound }
        let tag = "\"\(Hex.encode(SHA256.hash(link.path).prefix(16)))\""
        var response: Response
        if headers.hasCurrent(tag) {
            response = Response(status: .notModified)
        } else {
            let slot = try slots.take(for: context)
            let picture = try await open(grant.key)
            // A client that has a part of another object gets the whole picture.
            let hasThis = headers[.ifRange].map { $0 == tag } ?? true
            let range = ByteRange(hasThis ? headers[.range] : nil, of: picture.byteCount)
            response = try Self.answer(range, of: picture, grant.type, holding: slot, context)
        }
        // The link is the credential: shared caches may keep the picture until the link expires, and no longer.
        let secondsLeft = max(0, Int(grant.expires.timeIntervalSinceNow))
        response.headers[.eTag] = tag
        response.headers[.cacheControl] = "public, max-age=\(secondsLeft), immutable"
        response.headers[.acceptRanges] = "bytes"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        return response
    }

    private func open(_ key: BlobKey) async throws -> any BlobReader {
        do throws(BlobStoreError) {
            return try await blobs.openMedia(key, limit: Self.maxObjectBytes)
        } catch  where error.code == .notFound {
            throw Self.notFound
        }
    }

    private static func answer(
        _ range: ByteRange, of picture: any BlobReader, _ type: PictureType, holding slot: UploadSlots.Slot,
        _ context: APIRequestContext
    ) throws(APIError) -> Response {
        switch range {
        case .whole:
            return stream(picture, 0..<picture.byteCount, .ok, type, holding: slot, context)
        case .part(let part):
            var response = stream(picture, part, .partialContent, type, holding: slot, context)
            response.headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(picture.byteCount)"
            return response
        case .unsatisfiable:
            var error = APIError(.invalidRequest, "The picture has no such bytes", field: "Range")
            error.status = .rangeNotSatisfiable
            error.headers[.contentRange] = "bytes */\(picture.byteCount)"
            throw error
        }
    }

    private static func stream(
        _ picture: any BlobReader, _ range: Range<Int>, _ status: HTTPResponse.Status, _ type: PictureType,
        holding slot: UploadSlots.Slot, _ context: APIRequestContext
    ) -> Response {
        let body = ResponseBody(contentLength: range.count) { writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let piece = try await picture.read(from: offset, upTo: range.upperBound)
                offset += piece.readableBytes
                try await writer.write(piece)
                // The next piece is read when the connection has flushed this one.
                try await context.waitUntilFlushed()
            }
            try await writer.finish(nil)
            withExtendedLifetime(slot) {}
        }
        return Response(
            status: status, headers: [.contentType: type.mimeType, .contentLength: "\(range.count)"], body: body)
    }

    private static let notFound = APIError(.notFound, "There is nothing at this path")
}

/// The parts of a signed link to a picture, none of which is checked.
struct MediaLink: Sendable {
    let path: String
    let expiry: String?
    let signature: String?
}

extension APIArgument<MediaLink> {
    /// The path and the query of a signed link. `Range` is declared with them, and read with the conditions.
    static let mediaLink = APIArgument(
        APIParameter(name: "path", place: .path, schema: .text, summary: "One or more segments"),
        APIParameter(name: "exp", place: .query, schema: .text, summary: "The end of the address's validity"),
        APIParameter(name: "sig", place: .query, schema: .text, summary: "Its signature"),
        APIParameter(name: "Range", place: .header, schema: .text, summary: "A part of the picture (RFC 9110 §14)")
    ) { request, _ throws(APIError) in
        let query = request.uri.queryParameters
        return MediaLink(
            path: String(request.uri.path.dropFirst(MediaLinkSigner.pathPrefix.count)), expiry: query["exp"].map(String.init),
            signature: query["sig"].map(String.init))
    }
}
