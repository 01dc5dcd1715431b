internal import FoundationEssentials

extension ListCursor {
    /// Makes the position after a job.
    public init(after job: ImageJob) { self.init(after: job.createdAt, job.id) }

    /// Makes the position after a membership.
    public init(after membership: TopicMembership) { self.init(after: membership.joinedAt, membership.topic.id) }

    /// Makes the position after an invitation.
    public init(after invitation: OpenInvitation) { self.init(after: invitation.createdAt, invitation.topicID) }

    /// Makes the position after a photo.
    public init(after photo: TopicPhoto) { self.init(after: photo.createdAt, photo.id) }

    private init(after time: Date, _ id: UUID) {
        self.init(microseconds: Int64((time.timeIntervalSince1970 * 1_000_000).rounded()), id: id)
    }
}
