internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import HeliographCrypto
internal import Hummingbird
internal import JSON
internal import NIOCore
internal import Pictures
internal import PostgresClient
internal import WireFormat

/// Builds responses about jobs, with their pictures.
struct ImageJobReader: Sendable {
    /// The form of the picture in a response.
    enum Form: String, Sendable {
        case inline = "base64"
        case linked = "url"
    }

    /// The layout of a response.
    enum Layout: Sendable {
        /// The layout of `GET /v1/images/jobs/{id}`.
        case job
        /// The layout of the response to an order that waited.
        case finished
    }

    let postgres: PostgresClient
    let blobs: any BlobStore
    let links: MediaLinks
    /// Limits the number of concurrent downloads; a piece of each picture is in memory.
    let slots: UploadSlots

    /// Answers with a job. Fetching the outcome of an ended job marks it as seen, so that it does not count in the badge any more.
    func answer(
        _ job: ImageJob, _ form: Form, _ layout: Layout, isFetched: Bool = true, _ context: APIRequestContext
    ) async throws -> Response {
        let response = try await response(to: job, form, layout, context)
        // Not before the response is built: if the picture cannot be opened, the outcome was not seen.
        if isFetched, job.status.isTerminal, job.seenAt == nil { try await ImageJobRepository(postgres).markSeen(id: job.id) }
        return response
    }

    private func response(
        to job: ImageJob, _ form: Form, _ layout: Layout, _ context: APIRequestContext
    ) async throws -> Response {
        guard let result = job.result, let type = result.mediaType else { return json(job, nil, layout, context) }
        switch form {
        case .linked:
            guard let image = links.link(to: try BlobKey(result.key), until: job.expiresAt) else { throw APIError.internal }
            let thumbnail = try result.thumbnailKey.flatMap { try links.link(to: BlobKey($0), until: job.expiresAt) }
            return json(job, .linked(image: image, thumbnail: thumbnail), layout, context)
        case .inline:
            let slot = try slots.take(for: context)
            let picture = try await open(result)
            // The body contains this mark in place of the base64, which is streamed piece by piece.
            let mark = UUID().uuidString
            let body = text(job, .inline(dataURI: "data:\(type.mimeType);base64,\(mark)"), layout, context)
            return Self.stream(body.text, replacing: mark, with: picture, holding: slot, context)
        }
    }

    private func open(_ result: ImageJob.Result) async throws -> any BlobReader {
        do throws(BlobStoreError) {
            return try await blobs.openMedia(BlobKey(result.key), limit: result.byteCount)
        } catch  where error.code == .notFound {
            // Deleted since the row was read.
            throw APIError.jobNotFound
        }
    }

    private func json(
        _ job: ImageJob, _ picture: JobPicture?, _ layout: Layout, _ context: APIRequestContext
    ) -> Response {
        Answer.json(text(job, picture, layout, context))
    }

    private func text(
        _ job: ImageJob, _ picture: JobPicture?, _ layout: Layout, _ context: APIRequestContext
    ) -> JSONValue {
        let data =
            switch layout {
            case .job: JobReply(job: job, picture: picture).json
            case .finished: FinishedJob(job: job, picture: picture).json
            }
        return Answer.data(data, context.requestID)
    }

    private static func stream(
        _ text: String, replacing mark: String, with picture: any BlobReader, holding slot: UploadSlots.Slot,
        _ context: APIRequestContext
    ) -> Response {
        let halves = text.utf8.split(separator: mark.utf8, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let length = halves.reduce(0) { $0 + $1.count } + (picture.byteCount + 2) / 3 * 4
        let body = ResponseBody(contentLength: length) { writer in
            try await writer.write(ByteBuffer(bytes: halves[0]))
            var (offset, pending) = (0, ByteBuffer())
            while offset < picture.byteCount {
                var piece = try await picture.read(from: offset, upTo: picture.byteCount)
                offset += piece.readableBytes
                pending.writeBuffer(&piece)
                // Base64 pieces can be concatenated only if each has a multiple of three bytes.
                let ready = offset == picture.byteCount ? pending.readableBytes : pending.readableBytes / 3 * 3
                try await writer.write(ByteBuffer(string: Base64.encode(pending.readBytes(length: ready) ?? [])))
                pending.discardReadBytes()
                // The next piece is read when the connection has flushed this one.
                try await context.waitUntilFlushed()
            }
            try await writer.write(ByteBuffer(bytes: halves[1]))
            try await writer.finish(nil)
            withExtendedLifetime(slot) {}
        }
        return Response(
            status: .ok, headers: [.contentType: "application/json", .contentLength: "\(length)"], body: body)
    }
}

extension APIError {
    static let jobNotFound = APIError(.jobNotFound, "Job not found")
}
