internal import EventBus
internal import FoundationEssentials
internal import Hummingbird
internal import Metrics
internal import PostgresClient
internal import Push
internal import Storage
internal import WireFormat

/// Answers `PUT` and `DELETE /v1/topics/{topic}/members/{user_id}`, `GET /v1/topics/{topic}/members` and `PUT /v1/topics/{topic}/settings`;
/// with an API key, ``AppTopicController`` does.
///
/// To strangers, and to invited users until they accept, a topic does not exist; a user who asks for its name learns only that it is taken.
/// No response discloses whether a user id belongs to an account: an invitation is answered and stored the same way for any id.
struct TopicController: Sendable {
    /// The default number of members on a page.
    static let usualPage = 100
    static let maxSettingsBytes = 1_024

    let postgres: PostgresClient
    let authenticator: any Authenticator
    /// Limits the changes by one account.
    let limiter: RateLimiter<UUID>
    /// Limits the invitations that are made and pushed.
    let quota: TopicInvitationQuota
    /// Whether a user who enters a topic that does not exist creates it.
    let usersMayCreate: Bool
    /// Answers requests with an API key.
    let apps: AppTopicController

    func put(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        if try ServiceAuthenticator.isUsed(in: request) { return try await apps.put(request, context) }
        let identity = try await authenticator.identify(request)
        let (name, userID) = (try context.topicName(), try context.member(identity))
        try limiter.admit(identity.userID, context.limits, or: "Too many changes by this account")
        let change = try await postgres.withTransaction { transaction in
            let change = try await TopicRepository(transaction).add(
                userID, to: name, by: identity.userID, mayCreate: usersMayCreate, quota: quota)
            if case .invited(let invitation?) = change, invitation.isAnnounced {
                let push = invitation.announcement
                try await OutboxRepository(transaction).publish(
                    push, requestID: context.requestID, traceparent: context.traceparent, expiresAt: push.expiresAt)
            }
            return change
        }
        try Self.check(change)
        guard case .invited(let invitation) = change else {
            return Answer.json(TopicAnswer.member(userID, of: name, requestID: context.requestID))
        }
        if let invitation {
            Counter(label: "topic_invitations_total", dimensions: [("push", invitation.isAnnounced ? "requested" : "held_back")])
                .increment()
        }
        return Answer.json(TopicAnswer.invited(userID, to: name, requestID: context.requestID), status: .accepted)
    }

    func delete(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        if try ServiceAuthenticator.isUsed(in: request) { return try await apps.remove(request, context) }
        let identity = try await authenticator.identify(request)
        let (name, userID) = (try context.topicName(), try context.member(identity))
        try limiter.admit(identity.userID, context.limits, or: "Too many changes by this account")
        let change = try await postgres.withTransaction {
            try await TopicRepository($0).remove(userID, from: name, by: identity.userID)
        }
        try Self.check(change)
        return Response(status: .noContent)
    }

    func list(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        if try ServiceAuthenticator.isUsed(in: request) {
            let topic = try await apps.topic(request, context)
            return try await answer(topic, shown: nil, try Self.part(of: request), context)
        }
        let identity = try await authenticator.identify(request)
        let (name, part) = (try context.topicName(), try Self.part(of: request))
        guard let topic = try await TopicRepository(postgres).find(name, seenBy: identity.userID) else { throw APIError.topicNotFound }
        // A member's id is enough to address them, so other members see it only if the owner has allowed it.
        let showsAll = topic.membersVisible || topic.ownerID == identity.userID
        return try await answer(topic, shown: showsAll ? nil : [identity.userID] + (topic.ownerID.map { [$0] } ?? []), part, context)
    }

    /// Answers with a page of the members of a topic.
    ///
    /// - Parameter shown: The users who are listed if they are members; nil for all members.
    private func answer(
        _ topic: Topic, shown: [UUID]?, _ part: (limit: Int, after: UUID?), _ context: APIRequestContext
    ) async throws -> Response {
        let members = try await TopicRepository(postgres).members(of: topic.id, among: shown, after: part.after, limit: part.limit)
        let next = members.count == part.limit ? members.last?.userID : nil
        return Answer.json(TopicAnswer.members(members, of: topic, next: next, requestID: context.requestID))
    }

    /// Answers `PUT /v1/topics/{topic}/settings`.
    func set(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        if try ServiceAuthenticator.isUsed(in: request) { return try await apps.set(request, context) }
        let identity = try await authenticator.identify(request)
        let name = try context.topicName()
        try limiter.admit(identity.userID, context.limits, or: "Too many changes by this account")
        let isVisible = try await Self.membersVisible(request, context)
        try Self.check(try await TopicRepository(postgres).setMembersVisible(isVisible, in: name, by: identity.userID))
        return Answer.json(TopicAnswer.settings(membersVisible: isVisible, of: name, requestID: context.requestID))
    }

    /// Reads the settings of a request.
    static func membersVisible(_ request: Request, _ context: APIRequestContext) async throws -> Bool {
        let (body, field) = (try await JSONBody(of: request, upTo: maxSettingsBytes, context), "members_visible")
        guard let isVisible = try body.bool(field) else { throw APIError(.missingField, "A field is missing", field: field) }
        return isVisible
    }

    private static func check(_ change: TopicMemberChange) throws(APIError) {
        switch change {
        case .done, .invited: return
        case .quotaReached(let wait): throw APIError.rateLimited("Too many invitations and additions by this account in a day", wait: wait)
        case .forbidden: throw APIError.accessDenied
        case .notFound, .nameTaken: throw APIError.topicNotFound
        case .limitReached:
            throw APIError(
                .limitReached, "A topic has up to \(TopicLimits.maxMembers) members, and an account up to \(TopicLimits.maxOwned) topics")
        }
    }

    private static func part(of request: Request) throws(APIError) -> (limit: Int, after: UUID?) {
        let limit = try request.pageLimit(usual: usualPage, upTo: TopicRepository.maxPageSize)
        guard let text = request.query("cursor") else { return (limit, nil) }
        guard let id = UUID(wireString: text) else {
            throw APIError(.invalidRequest, "cursor is the next_cursor of the page before", field: "cursor")
        }
        return (limit, id)
    }
}

extension APIRequestContext {
    /// The topic in the path.
    func topicName() throws(APIError) -> TopicName {
        // The colon is the only character of a name that clients percent-encode.
        let text = (parameters.get("topic") ?? "").replacing("%3A", with: ":").replacing("%3a", with: ":")
        guard let name = TopicName(text) else {
            let message = "A topic is event: or conversation: and 1 to \(TopicName.maxIDLength) characters of A-Z a-z 0-9 _ -"
            throw APIError(.invalidRequest, message, field: "topic")
        }
        return name
    }

    /// The user in the path; `me` is the sender.
    func member(_ identity: Identity) throws(APIError) -> UUID {
        if parameters.get("user") == "me" { return identity.userID }
        return try user(or: "A user is named by a UUID, or by me")
    }

    /// The user in the path, by id.
    func member() throws(APIError) -> UUID { try user(or: "Another user is named by a UUID") }

    private func user(or message: String) throws(APIError) -> UUID {
        guard let id = UUID(wireString: parameters.get("user") ?? "") else {
            throw APIError(.invalidRequest, message, field: "user_id")
        }
        return id
    }
}

extension APIError {
    static let topicNotFound = APIError(.topicNotFound, "Topic not found")
}
