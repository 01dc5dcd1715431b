import Foundation

@testable import MobileClient

extension GoldenExchange {
    private static let job = GoldenFile.id("job").wireText
    private static let picture = JobUpdate.Picture(
        imageURL: nil, thumbnailURL: nil, templateName: "Anime Style", width: 512, height: 384)
    private static let failure = JobUpdate.Failure(code: "content_blocked", message: "This picture cannot be worked on.", field: nil)

    private static func read(_ trigger: JobReducer.Trigger, tag: String? = nil) -> APIRequest<JobAnswer> {
        JobsRequests.read(job, for: trigger, tag: tag)
    }

    /// An order: the tests of uploads hold its form to the golden files.
    private static let order = JobsRequests.order(file: GoldenFile.folder, boundary: "", key: GoldenFile.id("request"))

    private static func link(_ name: String) -> String {
        "https://api.example.org/media/images/\(job)/\(name)?exp=600&sig=\(GoldenFile.token)"
    }

    /// A job that is read.
    private static func answer(
        _ name: String, _ request: APIRequest<JobAnswer>, id: String? = job, _ reading: JobReducer.ReadAnswer, tag: String
    ) -> GoldenExchange {
        answer(name, request) { $0.id == id && $0.reading == reading && $0.tag == "W/\"\(job)-\(tag)\"" }
    }

    /// Image jobs in each of their states.
    static let jobs: [GoldenExchange] = [
        answer("image-job-pending", read(.poll), .active(status: "pending"), tag: "pending-url"),
        answer("image-job-processing", read(.launch), .active(status: "processing"), tag: "processing-url"),
        answer("image-job-failed", read(.poll), .ended(.failed(failure)), tag: "failed-url"),
        answer(
            "image-job-completed-links", read(.push),
            .ended(
                .completed(
                    .init(
                        imageURL: link("result-abc.jpg"), thumbnailURL: link("thumbnail-def.jpg"), templateName: "Anime Style", width: 512,
                        height: 384))), tag: "completed-url"),
        .answer("image-job-completed", JobsRequests.readInline(job)) {
            $0.id == job && $0.reading == .ended(.completed(picture)) && $0.inlinePicture == "data:image/jpeg;base64,/9gBAgM="
        },
        answer(
            "image-job-not-modified", read(.poll, tag: "W/\"\(job)-completed-url\""), id: nil, .active(status: nil), tag: "completed-url"),
        .refusal("image-job-forbidden", read(.poll), .forbidden), .refusal("image-job-not-found", read(.poll), .jobNotFound),
        .done("image-job-delete", JobsRequests.delete(job)),
        .done("image-job-events-completed", JobsRequests.events(job)), .done("image-job-events-failed", JobsRequests.events(job)),
        .done("image-job-events-known", JobsRequests.events(job), isSent: false),
        .answer("image-order-finished", order, isSent: false, is: GoldenFile.id().wireText),
        .answer("image-order-finished-failed", order, isSent: false, is: GoldenFile.id().wireText),
        .refusal("image-order-too-large", order, isSent: false, .payloadTooLarge, field: "image"),
        .refusal("image-order-invalid-image", order, isSent: false, .invalidImage, field: "image"),
        .answer("image-jobs-list", JobsRequests.list(cursor: nil, limit: 20)) {
            $0.jobs.map(\.id) == [job] && $0.jobs.map(\.status) == ["completed"] && $0.jobs.map(\.completedAt) == [GoldenFile.time]
                && $0.next == nil
        },
        .answer("image-jobs-page", JobsRequests.list(cursor: nil, limit: 1)) {
            $0.jobs.map(\.template) == ["anime-style"] && $0.jobs.map(\.completedAt) == [nil] && $0.next == GoldenFile.token
        },
    ]
}
