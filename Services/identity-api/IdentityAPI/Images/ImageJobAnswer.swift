internal import BlobStore
internal import FoundationEssentials
internal import JSON
internal import Storage
internal import WireFormat

/// The response bodies about image jobs, as in the wire contract.
enum ImageJobAnswer {
    /// The place of the picture in a body.
    enum Picture: Sendable {
        /// In the body, as the value of this data URI.
        case inline(dataURI: String)
        /// At these media links.
        case linked(image: String, thumbnail: String?)
    }

    /// The 202 of an order.
    static func accepted(jobID: UUID, seconds: Int, requestID: String) -> JSONValue {
        .members(
            ("success", true),
            (
                "data",
                .members(
                    ("job_id", .string(jobID.wireString)), ("status", "pending"), ("estimated_time_seconds", .integer(seconds)),
                    ("message", "Processing started. You will receive a notification when complete."))
            ),
            ("meta", Answer.meta(requestID)))
    }

    /// A job, with its picture or its reason once it has ended.
    static func job(_ job: ImageJob, picture: Picture?, requestID: String) -> JSONValue {
        .members(
            ("success", true),
            (
                "data",
                .members(
                    ("job_id", .string(job.id.wireString)), ("status", .string(job.status.rawValue)),
                    ("created_at", .string(Answer.timestamp(job.createdAt))),
                    ("completed_at", job.completedAt.map { .string(Answer.timestamp($0)) }),
                    ("attempts", .integer(job.attempts)),
                    ("result", picture.map { .object(members(of: $0) + [.init("metadata", metadata(job))]) }),
                    ("error", job.failure.map(failure)))
            ),
            ("meta", Answer.meta(requestID)))
    }

    /// A job that ended while the response to its order waited for it: all members are directly in `data`.
    static func finished(_ job: ImageJob, picture: Picture?, requestID: String) -> JSONValue {
        var data: [JSONValue.Member] = [
            .init("job_id", .string(job.id.wireString)), .init("status", .string(job.status.rawValue)),
        ]
        if let picture { data += members(of: picture) + [.init("metadata", metadata(job))] }
        if let failure = job.failure { data.append(.init("error", self.failure(failure))) }
        return .members(("success", true), ("data", .object(data)), ("meta", Answer.meta(requestID)))
    }

    private static func members(of picture: Picture) -> [JSONValue.Member] {
        switch picture {
        case .inline(let dataURI): [.init("processed_image_base64", .string(dataURI))]
        case .linked(let image, let thumbnail):
            [.init("image_url", .string(image))] + (thumbnail.map { [.init("thumbnail_url", .string($0))] } ?? [])
        }
    }

    private static func metadata(_ job: ImageJob) -> JSONValue {
        let result = job.result
        return .members(
            ("templateId", .string(job.templateID)), ("templateName", .string(job.templateName)),
            ("modelUsed", .string(result?.modelUsed ?? "")), ("generationTimeMs", .integer(result?.generationTimeMs ?? 0)),
            ("originalDimensions", dimensions(result?.originalWidth, result?.originalHeight)),
            ("processedDimensions", dimensions(result?.width, result?.height)))
    }

    private static func dimensions(_ width: Int?, _ height: Int?) -> JSONValue {
        .members(("width", .integer(width ?? 0)), ("height", .integer(height ?? 0)))
    }

    private static func failure(_ failure: ImageJob.Failure) -> JSONValue {
        .members(("code", .string(failure.code.rawValue)), ("message", .string(failure.message)))
    }
}

extension ImageJob.Result {
    /// The type of the picture.
    var mediaType: PictureType? { PictureType(rawValue: format) }
}
