internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Storage
internal import WireFormat

extension APIOperation {
    /// Events and conversations: their members, photos and messages.
    static let topics: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/topics", id: "listTopics", area: .topics,
            summary: "The events and conversations that one is a member of, the last joined first", bearers: [.access],
            parameters: listParameters, replies: [.data(page("topics", topic), "A page of topics")], handler: { $0.topics.lists.topics }),
        APIOperation(
            method: .get, path: "/v1/invitations", id: "listInvitations", area: .topics,
            summary: "The invitations that one can accept, the newest first; without those of users whom one blocks", bearers: [.access],
            parameters: listParameters, replies: [.data(page("invitations", invitation), "A page of invitations")],
            handler: { $0.topics.lists.invitations }),
        APIOperation(
            method: .put, path: "/v1/topics/{topic}", id: "createTopic", area: .topics,
            summary: "Makes a topic of the app, whose server puts members into it", bearers: [writeTopics], parameters: [.topic],
            replies: [.data(.object(["topic": .topicName]), "The topic")], errors: [.topicNotFound, .nameTaken, .limitReached],
            handler: { $0.topics.apps.create }),
        APIOperation(
            method: .delete, path: "/v1/topics/{topic}", id: "deleteTopic", area: .topics,
            summary: "Deletes a topic of the app, with its members and photos", bearers: [writeTopics], parameters: [.topic],
            replies: [.noContent("The topic is gone")], handler: { $0.topics.apps.delete }),
        APIOperation(
            method: .put, path: "/v1/topics/{topic}/settings", id: "setTopicSettings", area: .topics,
            summary: "By the owner: whether the list of members shows all of them to each", bearers: [.access, writeTopics],
            parameters: [.topic, .installation],
            body: .json(.object(["members_visible": .boolean]), upTo: TopicController.maxSettingsBytes),
            replies: [.data(.object(["topic": .topicName, "members_visible": .boolean]), "The settings")], errors: [.topicNotFound],
            handler: { $0.topics.members.set }),
        APIOperation(
            method: .get, path: "/v1/topics/{topic}/members", id: "listMembers", area: .topics,
            summary: "The members of a topic: all for its owner, and for members if it is set so, else the owner and oneself",
            bearers: [.access, writeTopics],
            parameters: [.topic, .installation, .limit(1...TopicRepository.maxPageSize, usual: TopicController.usualPage), .cursor],
            replies: [.data(members, "A page of members")], errors: [.topicNotFound], handler: { $0.topics.members.list }),
        APIOperation(
            method: .put, path: "/v1/topics/{topic}/members/{user}", id: "putMember", area: .topics,
            summary: "`me`: enters a topic, which makes it, or accepts an invitation. Another user's id, by the owner: invites, or adds "
                + "who has agreed to that. An app's server adds without an invitation",
            bearers: [.access, writeTopics], parameters: [.topic, .member, .installation],
            replies: [
                .data(member, "The member"),
                .data(
                    .object(["topic": .topicName, "user_id": .uuid, "status": .constant("invited")]), status: 202,
                    "The user is invited: they have neither accepted another topic of the owner's nor the owner among their contacts"),
            ],
            errors: [.topicNotFound, .nameTaken, .limitReached], handler: { $0.topics.members.put }),
        APIOperation(
            method: .delete, path: "/v1/topics/{topic}/members/{user}", id: "removeMember", area: .topics,
            summary: "`me`: leaves, or declines an invitation. Another user's id, by the owner: removes", bearers: [.access, writeTopics],
            parameters: [.topic, .member, .installation], replies: [.noContent("The user is no member")],
            errors: [.topicNotFound, .nameTaken, .limitReached], handler: { $0.topics.members.delete }),
        APIOperation(
            method: .get, path: "/v1/topics/{topic}/photos", id: "listPhotos", area: .topics,
            summary: "The photos of an event that can be shown, the newest first, to its members; without those of users whom one blocks",
            bearers: [.access], parameters: [.topic] + listParameters,
            replies: [.data(page("photos", photo, [("topic", .topicName)]), "A page of photos")], errors: [.topicNotFound],
            handler: { $0.topics.lists.photos }),
        APIOperation(
            method: .post, path: "/v1/topics/{topic}/photos", id: "addPhoto", area: .topics,
            summary: "Adds a photo to an event; those of ten seconds are one push to the members", bearers: [.access],
            parameters: [.topic, .idempotencyKey, .installation],
            body: .form(.object(["photo": .file]), upTo: UploadLimits().imageBodyBytes),
            replies: [
                .data(
                    .object(["photo_id": .uuid, "status": .constant("pending")]), status: 202, "The photo is received",
                    headers: [.idempotentReplayed])
            ],
            errors: [.topicNotFound, .invalidImage, .limitReached, .requestInProgress, .idempotencyKeyReused],
            handler: { $0.topics.photos.add }),
        APIOperation(
            method: .post, path: "/v1/topics/{topic}/messages", id: "postMessage", area: .topics,
            summary: "Announces a message to the other members by a push. `text` is needed unless it is `sensitive`", bearers: [.access],
            parameters: [.topic, .installation],
            body: .json(
                .object(
                    ["message_id": .messageID],
                    optional: ["text": .text(0...ChatMessage.maxTextBytes).orNull, "sensitive": .boolean.orNull]),
                upTo: MessageController.maxMessageBytes, example: ["message_id": "m-1001", "text": "See you at eight"]),
            replies: [
                .data(
                    .object(["message_id": .messageID, "conversation_id": .text, "created_at": .instant]), status: 202,
                    "The message is posted", headers: [.idempotentReplayed])
            ],
            errors: [.topicNotFound, .idempotencyKeyReused], repetition: "by `message_id`, 30 days", handler: { $0.topics.messages.post }),
        APIOperation(
            method: .post, path: "/v1/topics/{topic}/read", id: "markRead", area: .topics,
            summary: "Marks a topic as read, up to a message or entirely", bearers: [.access], parameters: [.topic, .installation],
            body: .json(
                .object(optional: ["message_id": .messageID.orNull]), upTo: MessageController.maxReadBytes, isRequired: false),
            replies: [.data(.object(["topic": .topicName, "unread": .count, "badge": .count]), "What is left")],
            errors: [.topicNotFound], repetition: "yes", handler: { $0.topics.messages.read }),
        reportTopic, reportMessage,
    ]

    private static let listParameters: [APIParameter] = [
        .installation, .limit(1...TopicListController.maxPage, usual: TopicListController.usualPage), .cursor,
    ]
    private static let topic = JSONSchema.object([
        "topic": .topicName, "role": .one(of: TopicRole.self), "member_count": .count, "members_visible": .boolean, "joined_at": .instant,
    ])
    private static let invitation = JSONSchema.object([
        "topic": .topicName, "inviter_id": .uuid, "created_at": .instant, "expires_at": .instant,
    ])
    private static let photo = JSONSchema.object([
        "photo_id": .uuid, "uploader_id": .uuid, "thumbnail_url": .text, "created_at": .instant, "expires_at": .instant,
    ])

    /// The data of a list whose pages have a position in time.
    private static func page(_ name: String, _ element: JSONSchema, _ first: [(String, JSONSchema)] = []) -> JSONSchema {
        .object(first + [(name, .array(of: element)), ("next_cursor", .text.orNull)], optional: [])
    }

    private static let writeTopics = APIBearer.key(scope: ServiceScope.writeTopics.rawValue)
    private static let member = JSONSchema.object(["topic": .topicName, "user_id": .uuid])
    private static let members = JSONSchema.object([
        "topic": .topicName, "owner_id": .uuid.orNull, "member_count": .count, "members_visible": .boolean,
        "members": .array(of: .object(["user_id": .uuid, "joined_at": .instant])), "next_cursor": .uuid.orNull,
    ])
}
