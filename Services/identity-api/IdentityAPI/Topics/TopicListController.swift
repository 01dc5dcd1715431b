internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import PostgresClient
internal import Topics
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
    let links: MediaLinks

    /// Lists the caller's topics.
    func topics(_ call: APICall<Identity, ListPosition, EmptyBody>) async throws -> ListPage<ListedTopic> {
        let (userID, position) = (call.sender.userID, call.target)
        let found = try await TopicRepository(postgres).memberships(of: userID, before: position.cursor, limit: position.limit + 1)
        return ListPage(found, limit: position.limit, cursor: ListCursor.init(after:))
            .map { ListedTopic(membership: $0, role: $0.topic.ownerID == userID ? .owner : .member) }
    }

    /// Lists the invitations that the caller can accept.
    func invitations(_ call: APICall<Identity, ListPosition, EmptyBody>) async throws -> ListPage<OpenInvitation> {
        let (userID, position) = (call.sender.userID, call.target)
        let found = try await TopicRepository(postgres).openInvitations(of: userID, before: position.cursor, limit: position.limit + 1)
        return ListPage(found, limit: position.limit, cursor: ListCursor.init(after:))
    }

    /// Lists the photos of an event, to its members.
    func photos(_ call: APICall<Identity, (TopicName, ListPosition), EmptyBody>) async throws -> PhotoPage {
        let (userID, (name, position)) = (call.sender.userID, call.target)
        guard let topic = try await TopicRepository(postgres).find(name, seenBy: userID) else { throw APIError.topicNotFound }
        let found = try await TopicPhotoRepository(postgres).list(
            topicID: topic.id, seenBy: userID, before: position.cursor, limit: position.limit + 1)
        let now = Date()
        let page = try ListPage(found, limit: position.limit, cursor: ListCursor.init(after:))
            .map { ListedPhoto(photo: $0, thumbnailURL: try link(to: $0, now: now)) }
        return PhotoPage(topic: name, page: page)
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
}
