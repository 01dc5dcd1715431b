internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers requests about topics that come with an API key: an app's own server creates, deletes and fills the topics of its app.
///
/// To a key, the topics of users and of other apps do not exist; only the creation discloses that a name is taken.
struct AppTopicController: Sendable {
    let postgres: PostgresClient
    let services: ServiceAuthenticator

    /// Answers `PUT /v1/topics/{topic}`.
    func create(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (service, name) = try await identify(request, context)
        try check(try await TopicRepository(postgres).create(name, ownedBy: service.app))
        return Answer.json(Answer.data(.members(("topic", .string(name.text))), context.requestID))
    }

    /// Answers `DELETE /v1/topics/{topic}`.
    func delete(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (service, name) = try await identify(request, context)
        _ = try await TopicRepository(postgres).delete(name, ownedBy: service.app)
        return Response(status: .noContent)
    }

    /// Answers `PUT /v1/topics/{topic}/members/{user_id}`.
    func put(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (service, name) = try await identify(request, context)
        let userID = try context.member()
        try check(try await postgres.withTransaction { try await TopicRepository($0).put(userID, into: name, ownedBy: service.app) })
        return Answer.json(TopicAnswer.member(userID, of: name, requestID: context.requestID))
    }

    /// Answers `DELETE /v1/topics/{topic}/members/{user_id}`.
    func remove(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (service, name) = try await identify(request, context)
        let userID = try context.member()
        try check(try await postgres.withTransaction { try await TopicRepository($0).take(userID, outOf: name, ownedBy: service.app) })
        return Response(status: .noContent)
    }

    /// Answers `PUT /v1/topics/{topic}/settings`.
    func set(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (service, name) = try await identify(request, context)
        let isVisible = try await TopicController.membersVisible(request, context)
        guard try await TopicRepository(postgres).setMembersVisible(isVisible, in: name, ownedBy: service.app) else {
            throw APIError.topicNotFound
        }
        return Answer.json(TopicAnswer.settings(membersVisible: isVisible, of: name, requestID: context.requestID))
    }

    /// Returns the topic whose members are listed.
    func topic(_ request: Request, _ context: APIRequestContext) async throws -> Topic {
        let (service, name) = try await identify(request, context)
        guard let topic = try await TopicRepository(postgres).find(name, ownedBy: service.app) else { throw APIError.topicNotFound }
        return topic
    }

    private func identify(_ request: Request, _ context: APIRequestContext) async throws -> (ServiceIdentity, TopicName) {
        (try await services.identify(request, for: .writeTopics), try context.topicName())
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
