public import FoundationEssentials
public import JSON
public import WireFormat

/// A picture could not be made.
public struct JobFailedPush: PushAboutThing {
    /// `job_failed`.
    public static var kind: NotificationKind { .jobFailed }
    /// `job`, as of a picture that is ready: a job ends once.
    public static var keyPrefix: String { JobCompletedPush.keyPrefix }
    /// `image_jobs`.
    public static var channelID: String? { "image_jobs" }
    /// The end of the job is unseen.
    public static var hasBadge: Bool { true }
    /// Nothing is to be said of a deleted or expired job.
    public static var condition: PushCondition? { .jobExists }

    /// The job.
    public var jobID: UUID
    /// The reason in words for the user.
    public var reason: String

    /// Describes a job that has failed.
    public init(jobID: UUID, reason: String) {
        self.jobID = jobID
        self.reason = reason
    }

    /// Makes the request for the push to all phones of the job's user. Publish it in the transaction that ends the job.
    ///
    /// - Parameter expiresAt: The end of the job.
    public func request(to userID: UUID, expiresAt: Date) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: Self.dedupeKey(about: jobID), content: content, recipient: .user(userID), lane: .urgent, expiresAt: expiresAt)
    }

    /// `PushContent.jobFailed`.
    public var content: PushContent { .jobFailed(self) }
    /// The job.
    public var subject: String? { "job:\(jobID.wireString)" }
    /// The job.
    public var references: PushReferences { PushReferences(jobID: jobID) }

    /// Reads `job_id` and `reason`.
    public init(from body: BodyReader) throws(BodyFault) {
        jobID = try body.read("job_id")
        reason = try body.read("reason")
    }

    /// Writes `job_id` and `reason`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("job_id", jobID)
        body.member("reason", reason)
    }
}
