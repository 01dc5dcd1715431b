public import FoundationEssentials
public import JSON
public import WireFormat

/// A picture is ready.
public struct JobCompletedPush: PushAboutThing {
    /// `job_completed`.
    public static var kind: NotificationKind { .jobCompleted }
    /// `job`.
    public static var keyPrefix: String { "job" }
    /// `image_jobs`.
    public static var channelID: String? { "image_jobs" }
    /// The picture is unseen.
    public static var hasBadge: Bool { true }
    /// Nothing is to be fetched of a deleted or expired job.
    public static var condition: PushCondition? { .jobExists }

    /// The job.
    public var jobID: UUID
    /// The name of its template, which the text shows.
    public var templateName: String
    /// The key of its thumbnail in the blob store; nil without one. Not a link: events carry nothing that opens a picture.
    public var thumbnailKey: String?

    /// Describes a job that has ended.
    public init(jobID: UUID, templateName: String, thumbnailKey: String?) {
        self.jobID = jobID
        self.templateName = templateName
        self.thumbnailKey = thumbnailKey
    }

    /// Makes the request for the push to all phones of the job's user. Publish it in the transaction that ends the job.
    ///
    /// - Parameter expiresAt: The end of the job, when there is nothing left to fetch.
    public func request(to userID: UUID, expiresAt: Date) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: Self.dedupeKey(about: jobID), content: content, recipient: .user(userID), lane: .urgent, expiresAt: expiresAt)
    }

    /// `PushContent.jobCompleted`.
    public var content: PushContent { .jobCompleted(self) }
    /// The job.
    public var subject: String? { "job:\(jobID.wireString)" }
    /// The job.
    public var references: PushReferences { PushReferences(jobID: jobID) }
    /// Whether it has a thumbnail.
    public var hasPicture: Bool { thumbnailKey != nil }

    /// Reads `job_id`, `template_name` and, if present, `thumbnail`.
    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        templateName = try body.read("template_name")
        thumbnailKey = try body.readIfPresent("thumbnail")
    }

    /// Writes `job_id`, `template_name` and `thumbnail`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("template_name", templateName)
        body.member("thumbnail", thumbnailKey)
    }
}
