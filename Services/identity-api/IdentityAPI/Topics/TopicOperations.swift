internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Topics
internal import WireFormat

extension APIOperation {
    /// Events and conversations: their members, photos and messages.
    static let topics: [APIOperation] =
        topicLists + appTopics + memberships + [listPhotos, addPhoto, postMessage, markRead, reportTopic, reportMessage]

    private static let topicLists: [APIOperation] = [
        APIOperation(
            .get, APITarget("/v1/topics", .part), id: "listTopics", area: .topics,
            summary: "The events and conversations that one is a member of, the last joined first", from: .user(nil),
            reply: .page("A page of topics", of: "topics"), handler: { $0.topics.lists.topics }),
        APIOperation(
            .get, APITarget("/v1/invitations", .part), id: "listInvitations", area: .topics,
            summary: "The invitations that one can accept, the newest first; without those of users whom one blocks", from: .user(nil),
            reply: .page("A page of invitations", of: "invitations"), handler: { $0.topics.lists.invitations }),
    ]

    private static let appTopics: [APIOperation] = [
        APIOperation(
            .put, APITarget("/v1/topics/{topic}", .topic), id: "createTopic", area: .topics,
            summary: "Makes a topic of the app, whose server puts members into it", from: .service(.writeTopics),
            reply: .data("The topic", in: "topic"), errors: [.topicNotFound, .nameTaken, .limitReached],
            handler: { $0.topics.apps.create }),
        APIOperation(
            .delete, APITarget("/v1/topics/{topic}", .topic), id: "deleteTopic", area: .topics,
            summary: "Deletes a topic of the app, with its members and photos", from: .service(.writeTopics),
            reply: .noContent("The topic is gone"), handler: { $0.topics.apps.delete }),
    ]

    private static let memberships: [APIOperation] = [
        APIOperation(
            .put, APITarget("/v1/topics/{topic}/settings", .topic), id: "setTopicSettings", area: .topics,
            summary: "By the owner: whether the list of members shows all of them to each",
            from: .user(.topicChanges, orService: .writeTopics), reply: .data("The settings"), errors: [.topicNotFound],
            handler: { $0.topics.members.set }),
        APIOperation(
            .get,
            APITarget(
                "/v1/topics/{topic}/members", .topic, .members(usual: TopicController.usualPage, upTo: TopicRepository.maxPageSize)),
            id: "listMembers", area: .topics,
            summary: "The members of a topic: all for its owner, and for members if it is set so, else the owner and oneself",
            from: .user(nil, orService: .writeTopics), reply: .data("A page of members"), errors: [.topicNotFound],
            handler: { $0.topics.members.list }),
        APIOperation(
            .put, APITarget("/v1/topics/{topic}/members/{user}", .topic, .member), id: "putMember", area: .topics,
            summary: "`me`: enters a topic, which makes it, or accepts an invitation. Another user's id, by the owner: invites, or adds "
                + "who has agreed to that. An app's server adds without an invitation",
            from: .user(.topicChanges, orService: .writeTopics),
            reply: .either(
                .data("The member"),
                .data(
                    "The user is invited: they have neither accepted another topic of the owner's nor the owner among their contacts",
                    status: .accepted)),
            errors: [.topicNotFound, .nameTaken, .limitReached], handler: { $0.topics.members.put }),
        APIOperation(
            .delete, APITarget("/v1/topics/{topic}/members/{user}", .topic, .member), id: "removeMember", area: .topics,
            summary: "`me`: leaves, or declines an invitation. Another user's id, by the owner: removes",
            from: .user(.topicChanges, orService: .writeTopics), reply: .noContent("The user is no member"),
            errors: [.topicNotFound, .nameTaken, .limitReached], handler: { $0.topics.members.delete }),
    ]

    private static let listPhotos = APIOperation(
        .get, APITarget("/v1/topics/{topic}/photos", .topic(.event, or: "Only events have photos"), .part), id: "listPhotos",
        area: .topics,
        summary: "The photos of an event that can be shown, the newest first, to its members; without those of users whom one blocks",
        from: .user(nil), reply: .data("A page of photos", cacheControl: "private, no-cache"), errors: [.topicNotFound],
        handler: { $0.topics.lists.photos })

    private static let addPhoto = APIOperation(
        .post, APITarget("/v1/topics/{topic}/photos", .topic(.event, or: "Photos are added to events"), .idempotencyKey), id: "addPhoto",
        area: .topics, summary: "Adds a photo to an event; those of ten seconds are one push to the members", from: .user(.photos),
        reply: .response(.data(AcceptedPhoto.schema, status: 202, "The photo is received", headers: [.idempotentReplayed])),
        errors: [.topicNotFound, .invalidImage, .limitReached, .requestInProgress, .idempotencyKeyReused],
        handler: { $0.topics.photos.add })
}

extension APIArgument<ListPosition> {
    fileprivate static let part = page(usual: TopicListController.usualPage, upTo: TopicListController.maxPage)
}
