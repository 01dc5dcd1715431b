internal import EventBus
internal import FoundationEssentials
internal import Hummingbird
internal import Metrics
internal import PostgresClient
internal import Push
internal import Topics
internal import WireFormat

/// Answers `PUT` and `DELETE /v1/topics/{topic}/members/{user_id}`, `GET /v1/topics/{topic}/members` and `PUT /v1/topics/{topic}/settings`;
/// with an API key, ``AppTopicController`` does.
///
/// To strangers, and to invited users until they accept, a topic does not exist; a user who asks for its name learns only that it is taken.
/// No response discloses whether a user id belongs to an account: an invitation is answered and stored the same way for any id.
struct TopicController: Sendable {
    /// The default number of members on a page.
    static let usualPage = 100

    let postgres: PostgresClient
    /// Limits the invitations that are made and pushed.
    let quota: TopicInvitationQuota
    /// Whether a user who enters a topic that does not exist creates it.
    let usersMayCreate: Bool
    /// Answers requests with an API key.
    let apps: AppTopicController

    func put(
        _ call: APICall<UserOrService, (TopicName, NamedMember), EmptyBody>
    ) async throws -> APIEither<AddedMember, InvitedMember> {
        let (name, member) = call.target
        switch call.sender {
        case .service(let service):
            let userID = try member.idForService()
            try await apps.put(userID, into: name, by: service)
            return .first(AddedMember(topic: name, userID: userID))
        case .user(let identity):
            let userID = try member.id(for: identity)
            guard case .invited(let invitation) = try await add(userID, to: name, by: identity, call.context) else {
                return .first(AddedMember(topic: name, userID: userID))
            }
            if let invitation {
                Counter(label: "topic_invitations_total", dimensions: [("push", invitation.isAnnounced ? "requested" : "held_back")])
                    .increment()
            }
            return .second(InvitedMember(topic: name, userID: userID))
        }
    }

    /// Adds or invites a user, with the push of an invitation in the same transaction.
    private func add(
        _ userID: UUID, to name: TopicName, by identity: Identity, _ context: APIRequestContext
    ) async throws -> TopicMemberChange {
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
        return change
    }

    func delete(_ call: APICall<UserOrService, (TopicName, NamedMember), EmptyBody>) async throws {
        let (name, member) = call.target
        switch call.sender {
        case .service(let service): try await apps.remove(try member.idForService(), from: name, by: service)
        case .user(let identity):
            let userID = try member.id(for: identity)
            let change = try await postgres.withTransaction {
                try await TopicRepository($0).remove(userID, from: name, by: identity.userID)
            }
            try Self.check(change)
        }
    }

    func list(_ call: APICall<UserOrService, (TopicName, MemberPosition), EmptyBody>) async throws -> MemberPage {
        let (name, position) = call.target
        switch call.sender {
        case .service(let service):
            return try await page(of: try await apps.topic(name, of: service), shown: nil, position)
        case .user(let identity):
            guard let topic = try await TopicRepository(postgres).find(name, seenBy: identity.userID) else {
                throw APIError.topicNotFound
            }
            // A member's id is enough to address them, so other members see it only if the owner has allowed it.
            let showsAll = topic.membersVisible || topic.ownerID == identity.userID
            return try await page(of: topic, shown: showsAll ? nil : [identity.userID] + (topic.ownerID.map { [$0] } ?? []), position)
        }
    }

    /// Returns a page of the members of a topic.
    ///
    /// - Parameter shown: The users who are listed if they are members; nil for all members.
    private func page(of topic: Topic, shown: [UUID]?, _ position: MemberPosition) async throws -> MemberPage {
        let members = try await TopicRepository(postgres)
            .members(of: topic.id, among: shown, after: position.after, limit: position.limit)
        return MemberPage(topic: topic, members: members, next: members.count == position.limit ? members.last?.userID : nil)
    }

    func set(_ call: APICall<UserOrService, TopicName, TopicSettingsBody>) async throws -> TopicSettings {
        let (name, isVisible) = (call.target, call.body.membersVisible)
        switch call.sender {
        case .service(let service): try await apps.setMembersVisible(isVisible, in: name, by: service)
        case .user(let identity):
            try Self.check(try await TopicRepository(postgres).setMembersVisible(isVisible, in: name, by: identity.userID))
        }
        return TopicSettings(topic: name, membersVisible: isVisible)
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
}

extension APIError {
    static let topicNotFound = APIError(.topicNotFound, "Topic not found")
}
