internal import FoundationEssentials
internal import JSON
internal import Pictures
internal import WireFormat

extension ImageTemplate: APIObject {
    static let members: [APIMember<ImageTemplate>] = [
        .required("id", \.id), .required("name", \.name), .required("description", \.description), .required("preview", \.preview),
    ]
}

/// The reply to an order.
struct AcceptedJob: APIObject {
    static let members: [APIMember<AcceptedJob>] = [
        .required("job_id", \.id), .constant("status", "pending"), .required("estimated_time_seconds", \.seconds),
        .required("message", \.message),
    ]

    let id: UUID
    let seconds: Int
    private var message: String { "Processing started. You will receive a notification when complete." }

    init(id: UUID, seconds: Int) {
        (self.id, self.seconds) = (id, seconds)
    }
}

/// A page of the jobs of a user.
struct JobPage: APIObject {
    static let members: [APIMember<JobPage>] = [.required("jobs", \.page.elements), .optional("next_cursor", \.page.next)]

    let page: ListPage<ListedJob>
}

/// A job in a list.
struct ListedJob: APIObject {
    static let members: [APIMember<ListedJob>] = [
        .required("job_id", \.job.id), .required("status", \.job.status), .required("template_id", \.job.templateID),
        .required("created_at", \.job.createdAt), .required("completed_at", \.job.completedAt),
    ]

    let job: ImageJob

    init(_ job: ImageJob) { self.job = job }
}

extension ImageJobStatus: APIWord {}
