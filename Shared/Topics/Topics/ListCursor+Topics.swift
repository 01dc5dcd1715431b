public import Accounts

extension ListCursor {
    /// Makes the position after a membership.
    public init(after membership: TopicMembership) { self.init(after: membership.joinedAt, membership.topic.id) }

    /// Makes the position after an invitation.
    public init(after invitation: OpenInvitation) { self.init(after: invitation.createdAt, invitation.topicID) }

    /// Makes the position after a photo.
    public init(after photo: TopicPhoto) { self.init(after: photo.createdAt, photo.id) }
}
