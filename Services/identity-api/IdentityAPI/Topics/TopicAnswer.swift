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

    /// The 202 of an invitation, the same for a new and an existing one.
    static func invited(_ userID: UUID, to name: TopicName, requestID: String) -> JSONValue {
        Answer.data(
            .members(("topic", .string(name.text)), ("user_id", .string(userID.wireString)), ("status", "invited")), requestID)
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
                ("member_count", .integer(topic.memberCount)), ("members", .array(items)),
                ("next_cursor", next.map { .string($0.wireString) } ?? .null)),
            requestID)
    }

    /// The 202 of a photo.
    static func accepted(photoID: UUID, requestID: String) -> JSONValue {
        Answer.data(.members(("photo_id", .string(photoID.wireString)), ("status", "pending")), requestID)
    }
}
