internal import BlobStore
internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `GET /v1/topics`, `GET /v1/invitations` and `GET /v1/topics/event:{id}/photos`: an app shows its state from these lists after a
/// start, even if it has missed pushes.
struct TopicListController: Sendable {
    /// The default number of elements on a page.
    static let usualPage = 50
    /// The most elements on a page.
    static let maxPage = 200
    /// The lifetime of the links of a list; at least 23 hours of it are left.
    private static let linkLifetime: Duration = .seconds(24 * 60 * 60)
    /// The links of an hour end at the same time, so that they are the same, and phones need not load a picture again.
    private static let linkStep: TimeInterval = 60 * 60

    let postgres: PostgresClient
    let authenticator: any Authenticator
    let links: MediaLinks

    /// Lists the caller's topics.
    func topics(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (userID, limit, cursor) = try await page(request)
        let found = try await TopicRepository(postgres).memberships(of: userID, before: cursor, limit: limit + 1)
        let page = ListPage(found, limit: limit, cursor: ListCursor.init(after:))
        return Self.answer(TopicAnswer.memberships(page, of: userID, requestID: context.requestID))
    }

    /// Lists the invitations that the caller can accept.
    func invitations(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (userID, limit, cursor) = try await page(request)
        let found = try await TopicRepository(postgres).openInvitations(of: userID, before: cursor, limit: limit + 1)
        let page = ListPage(found, limit: limit, cursor: ListCursor.init(after:))
        return Self.answer(TopicAnswer.invitations(page, requestID: context.requestID))
    }

    /// Lists the photos of an event, to its members.
    func photos(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let (userID, limit, cursor) = try await page(request)
        let name = try context.topicName()
        guard name.kind == .event else { throw APIError(.invalidRequest, "Only events have photos", field: "topic") }
        guard let topic = try await TopicRepository(postgres).find(name, seenBy: userID) else { throw APIError.topicNotFound }
        let found = try await TopicPhotoRepository(postgres).list(
            topicID: topic.id, seenBy: userID, before: cursor, limit: limit + 1)
        let page = ListPage(found, limit: limit, cursor: ListCursor.init(after:))
        let now = Date()
        let thumbnails = Dictionary(uniqueKeysWithValues: try page.elements.map { ($0.id, try link(to: $0, now: now)) })
        return Self.answer(TopicAnswer.photos(page, thumbnails, of: name, requestID: context.requestID))
    }

    /// Returns the link to a photo's thumbnail, which ends with the photo at the latest.
    private func link(to photo: TopicPhoto, now: Date) throws -> String {
        let latest = now.timeIntervalSince1970 + Self.linkLifetime / .seconds(1)
        let end = Date(timeIntervalSince1970: (latest / Self.linkStep).rounded(.down) * Self.linkStep)
        guard let key = photo.thumbnailKey, let link = try links.link(to: BlobKey(key), until: min(end, photo.expiresAt)) else {
            throw APIError.internal
        }
        return link
    }

    private func page(_ request: Request) async throws -> (userID: UUID, limit: Int, cursor: ListCursor) {
        let identity = try await authenticator.identify(request)
        return (identity.userID, try request.pageLimit(usual: Self.usualPage, upTo: Self.maxPage), try request.listCursor())
    }

    private static func answer(_ body: JSONValue) -> Response {
        var response = Answer.json(body)
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }
}
