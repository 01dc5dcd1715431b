public import Foundation

extension ImagesClient {
    /// A page of the account's jobs, of all its devices.
    public struct Page: Sendable, Hashable, Decodable {
        /// A job as the API lists it.
        public struct Entry: Sendable, Hashable, Identifiable, Decodable {
            /// The id of the job.
            public let id: String
            /// `pending`, `processing`, `completed`, `failed`, or a status that this version does not know.
            public let status: String
            /// The id of the template.
            public let template: String
            /// When the API took the order.
            public let createdAt: Date
            /// When the job ended; nil while it has not.
            public let completedAt: Date?

            enum CodingKeys: String, CodingKey {
                case id = "job_id"
                case status
                case template = "template_id"
                case createdAt = "created_at"
                case completedAt = "completed_at"
            }
        }

        /// The jobs, the newest first.
        public let jobs: [Entry]
        /// The cursor of the next page; nil on the last page.
        public let next: String?

        enum CodingKeys: String, CodingKey {
            case jobs
            case next = "next_cursor"
        }
    }

    /// Lists the account's jobs of the last 24 hours, the newest first.
    /// - Parameters:
    ///   - cursor: ``Page/next`` of the page before; nil for the first page.
    ///   - limit: From 1 to 99.
    public func list(cursor: String? = nil, limit: Int = 20) async throws(HeliographError) -> Page {
        guard (1...99).contains(limit) else { throw HeliographError(.invalidArgument, "A page has 1 to 99 jobs", field: "limit") }
        return try await sender.send(JobsRequests.list(cursor: cursor, limit: limit))
    }

    /// Cancels a job that has not ended, or deletes an ended job with its pictures. The job may have been ordered on another device.
    ///
    /// An order of this device then ends as expired. To cancel an order of this device, use ``cancel(_:)``, which needs no job id.
    /// - Throws: `job_not_found`, `forbidden` for a job of another account.
    public func delete(jobID: String) async throws(HeliographError) {
        try await sender.send(JobsRequests.delete(try Self.checked(jobID)))
        await tracker.pushArrived(jobID: jobID)
    }

    /// Writes the picture of a job to a file, and returns its format.
    ///
    /// The picture is fetched by its link, or from an answer of the API if there is no link or the link does not work.
    /// - Parameters:
    ///   - jobID: The id of the job, as pushes and ``JobUpdate/jobID`` name it.
    ///   - file: It is replaced if it exists, and only by a complete picture.
    /// - Throws: `not_found` when the job has no picture (yet); `job_not_found`; `storage`; `unexpected_answer` for an answer that is not a
    ///   picture.
    @discardableResult
    public func result(of jobID: String, to file: URL) async throws(HeliographError) -> PictureFormat {
        let answer = try await sender.send(JobsRequests.read(try Self.checked(jobID), for: .launch))
        guard case .ended(.completed(let picture)) = answer.reading else {
            throw HeliographError(.notFound, "The job has no picture")
        }
        let part = file.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).part")
        defer { try? FileManager.default.removeItem(at: part) }
        if let format = await fetch(picture.imageURL, to: part) {
            try Self.place(part, at: file)
            return format
        }
        let text: String
        if let inline = answer.inlinePicture {
            text = inline
        } else {
            text = try await sender.send(JobsRequests.readInline(jobID)).inlinePicture ?? ""
        }
        // A data URI, or base64 alone: its alphabet has no comma.
        guard let data = Data(base64Encoded: String(text.split(separator: ",").last ?? ""), options: .ignoreUnknownCharacters),
            let format = PictureFormat(data)
        else { throw HeliographError(.unexpectedAnswer, "The answer has no picture") }
        try HeliographError.storing("the picture cannot be written") { try data.write(to: part) }
        try Self.place(part, at: file)
        return format
    }

    /// Fetches a picture by its link, without a credential: the link may lead to another host. nil when that does not work, and for a link
    /// without TLS, unless the API is reached without it as well: others on the way could read the picture.
    private func fetch(_ link: String?, to part: URL) async -> PictureFormat? {
        guard let url = link.flatMap({ URL(string: $0) }), url.host != nil else { return nil }
        let scheme = url.scheme?.lowercased()
        guard scheme == "https" || scheme == "http" && allowsPlainLinks else { return nil }
        let request = TransportRequest("GET", url)
        guard let answer = try? await transport.download(request, to: part, maxBytes: JobsRequests.maxInlineBytes), answer.status == 200,
            let handle = try? FileHandle(forReadingFrom: part)
        else { return nil }
        defer { try? handle.close() }
        if let head = try? handle.read(upToCount: PictureFormat.headBytes), let format = PictureFormat(head) { return format }
        try? FileManager.default.removeItem(at: part)
        return nil
    }

    private static func place(_ part: URL, at file: URL) throws(HeliographError) {
        try HeliographError.storing("the picture cannot be written") { try SystemFiles().move(part, to: file) }
    }

    private static func checked(_ jobID: String) throws(HeliographError) -> String {
        guard JobsRequests.isJobID(jobID) else { throw HeliographError(.invalidArgument, "This is not an id of a job", field: "job_id") }
        return jobID
    }
}
