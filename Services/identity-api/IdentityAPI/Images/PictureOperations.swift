internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Pictures
internal import WireFormat

extension APIOperation {
    /// Orders of pictures, and the pictures themselves.
    static let pictures: [APIOperation] = [
        APIOperation(
            .get, "/v1/templates", id: "listTemplates", area: .pictures, summary: "What pictures can be made", from: .anyone(),
            reply: .dataAlone("The templates", in: "templates", cacheControl: "public, max-age=300"),
            handler: { $0.images.jobs.templates }),
        APIOperation(
            .post, APITarget("/v1/images/process", .idempotencyKey, .preferredWait), id: "orderPicture", area: .pictures,
            summary: "Orders a picture; with `async: false`, or `Prefer: wait=N`, the answer has it if it is there in time",
            from: .watchedUser(.orders),
            reply: .response(
                .data(
                    AcceptedJob.schema, status: 202, "The job began", headers: [.location, .idempotentReplayed],
                    links: ["getJob", "deleteJob", "followJob"].map { APILink(operation: $0, parameter: "id", member: "job_id") }),
                .data(
                    FinishedJob.schema, "The job has ended", headers: [.preferenceApplied, .idempotentReplayed],
                    example: SchemaExample.value(["status": "completed"], with: picture))),
            errors: [.templateNotFound, .invalidImage, .requestInProgress, .idempotencyKeyReused],
            handler: { $0.images.submit.submit }),
        APIOperation(
            .get,
            APITarget("/v1/images/jobs", .page(usual: ImageJobController.usualPage, upTo: ImageJobRepository.maxPageSize - 1)),
            id: "listJobs", area: .pictures, summary: "One's jobs, newest first", from: .user(nil),
            reply: .dataAlone("A page of jobs", cacheControl: "private, no-cache"), handler: { $0.images.jobs.list }),
        APIOperation(
            .get, APITarget("/v1/images/jobs/{id}", .job, .wait, .jobView), id: "getJob", area: .pictures,
            summary: "The state of a job and, when it has ended, its result; `attempts` counts calls of the generator",
            from: .watchedUser(nil),
            reply: .response(.data(JobReply.schema, "The job", headers: [.eTag], example: completed), .notModified), errors: [.jobNotFound],
            handler: { $0.images.jobs.status }),
        APIOperation(
            .delete, APITarget("/v1/images/jobs/{id}", .job), id: "deleteJob", area: .pictures,
            summary: "Cancels a job, or deletes it with its pictures", from: .user(nil), reply: .noContent("The job is gone"),
            errors: [.jobNotFound], handler: { $0.images.jobs.delete }),
        APIOperation(
            .get, APITarget("/v1/images/jobs/{id}/events", .job, .header(.lastEventID, "The last event that the client has")),
            id: "followJob", area: .pictures,
            summary: "Server-sent events: state, place in the queue, percent, attempts; they end with the job", from: .watchedUser(nil),
            reply: .response(.bytes(["text/event-stream"], "The events"), .noContent("The client has the last event")),
            errors: [.jobNotFound],
            handler: { $0.images.events.stream }),
        APIOperation(
            .get, APITarget("/media/{path}", .mediaLink), id: "getPicture", area: .pictures,
            summary: "The picture of a signed address, which is used as it was given", from: .anyone(),
            reply: .response(
                .bytes(PictureType.allCases.map(\.mimeType), "The picture", headers: [.eTag]),
                .bytes(PictureType.allCases.map(\.mimeType), status: 206, "A part of it", headers: [.eTag, .contentRange]),
                .notModified,
                .bare(.component("Failure"), status: 416, "The picture has no such bytes", headers: [.contentRange], example: noSuchBytes)),
            errors: [.notFound, .overloaded], handler: { $0.images.media.file }),
    ]

    private static let picture: JSONValue = [
        "processed_image_base64": "data:image/jpeg;base64,/9j/4AAQSkZJRg==",
        "metadata": [
            "templateId": "vintage", "templateName": "Vintage", "modelUsed": "local", "generationTimeMs": 2_300,
            "originalDimensions": ["width": 1_024, "height": 768], "processedDimensions": ["width": 1_024, "height": 768],
        ],
    ]
    private static let completed: JSONValue = [
        "status": "completed", "completed_at": "2025-10-27T10:00:12Z", "result": picture,
    ]
    private static let noSuchBytes: JSONValue = [
        "code": .integer(ErrorCode.invalidRequest.number), "message": "The picture has no such bytes",
        "error": ["code": "invalid_request", "retryable": false, "retry_after": 0, "field": "Range"],
    ]
}

extension APIArgument<UUID> {
    /// The job in the path.
    fileprivate static let job = id("id", "The job's id", or: .jobNotFound)
}

extension APIArgument<PreferredWait> {
    static let preferredWait = APIArgument(
        APIParameter(name: "Prefer", place: .header, schema: .text, summary: "`wait=N`: seconds to wait for the picture")
    ) { request, _ throws(APIError) in PreferredWait(request.headers) }
}
