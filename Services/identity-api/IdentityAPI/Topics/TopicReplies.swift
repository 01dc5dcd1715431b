internal import FoundationEssentials
internal import JSON
internal import Topics
internal import WireFormat

/// The reply to joining a topic, or to adding a user.
struct AddedMember: APIObject {
    static let members: [APIMember<AddedMember>] = [.required("topic", \.topic), .required("user_id", \.userID)]

    let topic: TopicName
    let userID: UUID
}

/// The reply to an invitation; new and existing ones get the same.
struct InvitedMember: APIObject {
    static let members: [APIMember<InvitedMember>] = [
        .required("topic", \.topic), .required("user_id", \.userID), .constant("status", "invited"),
    ]

    let topic: TopicName
    let userID: UUID
}

/// The body that sets the settings of a topic.
struct TopicSettingsBody: JSONObjectBody {
    static let fields = BodyFields<TopicSettingsBody>(.flag("members_visible")) { TopicSettingsBody(membersVisible: $0) }
    static let maxBytes = 1_024

    let membersVisible: Bool
}

/// The settings of a topic.
struct TopicSettings: APIObject {
    static let members: [APIMember<TopicSettings>] = [.required("topic", \.topic), .required("members_visible", \.membersVisible)]

    let topic: TopicName
    let membersVisible: Bool
}

/// A page of the members of a topic.
struct MemberPage: APIObject {
    static let members: [APIMember<MemberPage>] = [
        .required("topic", \.topic.name), .required("owner_id", \.topic.ownerID), .required("member_count", \.topic.memberCount),
        .required("members_visible", \.topic.membersVisible), .required("members", \.page), .required("next_cursor", \.next),
    ]

    let topic: Topic
    let page: [TopicMember]
    /// The last member of the page; nil on the last page.
    let next: UUID?

    init(topic: Topic, members: [TopicMember], next: UUID?) {
        (self.topic, page, self.next) = (topic, members, next)
    }
}

extension TopicMember: APIObject {
    static let members: [APIMember<TopicMember>] = [.required("user_id", \.userID), .required("joined_at", \.joinedAt)]
}

/// The rights of a member in a topic.
enum TopicRole: String, APIWord {
    /// Invites and removes members, and sees all of them.
    case owner
    case member
}

/// A topic in the list of a member.
struct ListedTopic: APIObject {
    static let members: [APIMember<ListedTopic>] = [
        .required("topic", \.membership.topic.name), .required("role", \.role),
        .required("member_count", \.membership.topic.memberCount), .required("members_visible", \.membership.topic.membersVisible),
        .required("joined_at", \.membership.joinedAt),
    ]

    let membership: TopicMembership
    let role: TopicRole
}

extension OpenInvitation: APIObject {
    static let members: [APIMember<OpenInvitation>] = [
        .required("topic", \.topic), .required("inviter_id", \.inviterID), .required("created_at", \.createdAt),
        .required("expires_at", \.expiresAt),
    ]
}

/// A page of the photos of an event.
struct PhotoPage: APIObject {
    static let members: [APIMember<PhotoPage>] = [
        .required("topic", \.topic), .required("photos", \.page.elements), .required("next_cursor", \.page.next),
    ]

    let topic: TopicName
    let page: ListPage<ListedPhoto>
}

/// A photo in a list, with the link to its thumbnail.
struct ListedPhoto: APIObject {
    static let members: [APIMember<ListedPhoto>] = [
        .required("photo_id", \.photo.id), .required("uploader_id", \.photo.uploaderID), .required("thumbnail_url", \.thumbnailURL),
        .required("created_at", \.photo.createdAt), .required("expires_at", \.photo.expiresAt),
    ]

    let photo: TopicPhoto
    let thumbnailURL: String
}

/// The reply to a photo.
struct AcceptedPhoto: APIObject {
    static let members: [APIMember<AcceptedPhoto>] = [.required("photo_id", \.id), .constant("status", "pending")]

    let id: UUID
}
