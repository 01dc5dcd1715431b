internal import FoundationEssentials
internal import PostgresClient
internal import Topics
internal import WireFormat

/// Answers requests about topics that come with an API key: an app's own server creates, deletes and fills the topics of its app.
///
/// To a key, the topics of users and of other apps do not exist; only the creation discloses that a name is taken.
struct AppTopicController: Sendable {
    let postgres: PostgresClient

    /// Answers `PUT /v1/topics/{topic}`.
    func create(_ call: APICall<ServiceIdentity, TopicName, EmptyBody>) async throws -> TopicName {
        try check(try await TopicRepository(postgres).create(call.target, ownedBy: call.sender.app))
        return call.target
    }

    /// Answers `DELETE /v1/topics/{topic}`.
    func delete(_ call: APICall<ServiceIdentity, TopicName, EmptyBody>) async throws {
        _ = try await TopicRepository(postgres).delete(call.target, ownedBy: call.sender.app)
    }

    /// Adds a user to a topic of the app.
    func put(_ userID: UUID, into name: TopicName, by service: ServiceIdentity) async throws {
        try check(try await postgres.withTransaction { try await TopicRepository($0).put(userID, into: name, ownedBy: service.app) })
    }

    /// Removes a user from a topic of the app.
    func remove(_ userID: UUID, from name: TopicName, by service: ServiceIdentity) async throws {
        try check(try await postgres.withTransaction { try await TopicRepository($0).take(userID, outOf: name, ownedBy: service.app) })
    }

    /// Sets whether members see each other.
    func setMembersVisible(_ isVisible: Bool, in name: TopicName, by service: ServiceIdentity) async throws {
        guard try await TopicRepository(postgres).setMembersVisible(isVisible, in: name, ownedBy: service.app) else {
            throw APIError.topicNotFound
        }
    }

    /// Returns a topic of the app, whose members are listed.
    func topic(_ name: TopicName, of service: ServiceIdentity) async throws -> Topic {
        guard let topic = try await TopicRepository(postgres).find(name, ownedBy: service.app) else { throw APIError.topicNotFound }
        return topic
    }

    private func check(_ change: TopicMemberChange) throws(APIError) {
        switch change {
        case .done, .invited, .quotaReached: return
        case .forbidden: throw APIError.accessDenied
        case .notFound: throw APIError.topicNotFound
        case .nameTaken: throw APIError(.nameTaken, "The topic belongs to another owner", field: "topic")
        case .limitReached:
            throw APIError(
                .limitReached,
                "A topic has up to \(TopicLimits.maxMembers) members, and an app up to \(TopicLimits.maxOwnedByApp) topics")
        }
    }
}
