internal import FoundationEssentials
internal import JSON
internal import Storage
internal import WireFormat

/// The response bodies about topics.
enum TopicAnswer {
    /// The response to joining a topic.
    static func member(_ userID: UUID, of name: TopicName, requestID: String) -> JSONValue {
        Answer.data(.members(("topic", .string(name.text)), ("user_id", .string(userID.wireString))), requestID)
    }

    /// The 202 of an invitation; new and existing invitations get the same.
    static func invited(_ userID: UUID, to name: TopicName, requestID: String) -> JSONValue {
        Answer.data(
            .members(("topic", .string(name.text)), ("user_id", .string(userID.wireString)), ("status", "invited")), requestID)
    }

    /// The settings of a topic.
    static func settings(membersVisible: Bool, of name: TopicName, requestID: String) -> JSONValue {
        Answer.data(.members(("topic", .string(name.text)), ("members_visible", .bool(membersVisible))), requestID)
    }

    /// A page of members.
    static func members(_ members: [TopicMember], of topic: Topic, next: UUID?, requestID: String) -> JSONValue {
        let items = members.map { member in
            JSONValue.members(
                ("user_id", .string(member.userID.wireString)), ("joined_at", .string(Answer.timestamp(member.joinedAt))))
        }
        return Answer.data(
            .members(
                ("topic", .string(topic.name.text)), ("owner_id", topic.ownerID.map { .string($0.wireString) } ?? .null),
                ("member_count", .integer(topic.memberCount)), ("members_visible", .bool(topic.membersVisible)),
                ("members", .array(items)),
                ("next_cursor", next.map { .string($0.wireString) } ?? .null)),
            requestID)
    }

    /// A page of the topics of a user.
    static func memberships(_ page: ListPage<TopicMembership>, of userID: UUID, requestID: String) -> JSONValue {
        list("topics", page, requestID) { membership in
            [
                .init("topic", .string(membership.topic.name.text)),
                .init("role", .string((membership.topic.ownerID == userID ? TopicRole.owner : .member).rawValue)),
                .init("member_count", .integer(membership.topic.memberCount)),
                .init("members_visible", .bool(membership.topic.membersVisible)),
                .init("joined_at", .string(Answer.timestamp(membership.joinedAt))),
            ]
        }
    }

    /// A page of invitations.
    static func invitations(_ page: ListPage<OpenInvitation>, requestID: String) -> JSONValue {
        list("invitations", page, requestID) { invitation in
            [
                .init("topic", .string(invitation.topic.text)), .init("inviter_id", .string(invitation.inviterID.wireString)),
                .init("created_at", .string(Answer.timestamp(invitation.createdAt))),
                .init("expires_at", .string(Answer.timestamp(invitation.expiresAt))),
            ]
        }
    }

    /// A page of photos, with the links to their thumbnails by their ids.
    static func photos(_ page: ListPage<TopicPhoto>, _ links: [UUID: String], of name: TopicName, requestID: String) -> JSONValue {
        list("photos", page, requestID, first: [.init("topic", .string(name.text))]) { photo in
            [
                .init("photo_id", .string(photo.id.wireString)), .init("uploader_id", .string(photo.uploaderID.wireString)),
                .init("thumbnail_url", links[photo.id].map(JSONValue.string) ?? .null),
                .init("created_at", .string(Answer.timestamp(photo.createdAt))),
                .init("expires_at", .string(Answer.timestamp(photo.expiresAt))),
            ]
        }
    }

    private static func list<Element>(
        _ name: String, _ page: ListPage<Element>, _ requestID: String, first: [JSONValue.Member] = [],
        _ members: (Element) -> [JSONValue.Member]
    ) -> JSONValue {
        Answer.data(
            .object(
                first + [
                    .init(name, .array(page.elements.map { .object(members($0)) })),
                    .init("next_cursor", page.next.map { .string($0.text) } ?? .null),
                ]), requestID)
    }

    /// The 202 of a photo.
    static func accepted(photoID: UUID, requestID: String) -> JSONValue {
        Answer.data(.members(("photo_id", .string(photoID.wireString)), ("status", "pending")), requestID)
    }
}

/// The rights of a member in a topic.
enum TopicRole: String, Sendable, CaseIterable {
    /// Invites and removes members, and sees all of them.
    case owner
    case member
}
