internal import Foundation

/// The requests about topics: events and conversations, by their names as in `event:42`.
enum TopicRequests {
    private struct Message: Encodable {
        let messageID: String
        let text: String?
        let sensitive: Bool?

        enum CodingKeys: String, CodingKey {
            case messageID = "message_id"
            case text, sensitive
        }
    }

    private struct Settings: Encodable {
        let membersVisible: Bool

        enum CodingKeys: String, CodingKey { case membersVisible = "members_visible" }
    }

    private struct Read: Encodable {
        let messageID: String?

        enum CodingKeys: String, CodingKey { case messageID = "message_id" }
    }

    private struct Photo: Decodable {
        let photoID: UUID

        enum CodingKeys: String, CodingKey { case photoID = "photo_id" }
    }

    /// Enters a topic: makes it if it does not exist, or accepts an invitation.
    static func enter(_ topic: String) -> APIRequest<Void> { APIRequest(method: "PUT", path: members(topic, "me")) { _ in } }

    /// Leaves a topic, which ends with its last member, or declines an invitation.
    static func leave(_ topic: String) -> APIRequest<Void> { APIRequest(method: "DELETE", path: members(topic, "me")) { _ in } }

    static func add(_ userID: UUID, to topic: String) -> APIRequest<TopicMembers.Addition> {
        APIRequest(method: "PUT", path: members(topic, userID.wireText)) { $0.status == 202 ? .invited : .added }
    }

    static func remove(_ userID: UUID, from topic: String) -> APIRequest<Void> {
        APIRequest(method: "DELETE", path: members(topic, userID.wireText)) { _ in }
    }

    static func members(of topic: String, after cursor: UUID?, limit: Int) -> APIRequest<TopicMembers> {
        let after = cursor.map { [URLQueryItem(name: "cursor", value: $0.wireText)] } ?? []
        return APIRequest(
            method: "GET", path: "/v1/topics/\(topic)/members", query: [URLQueryItem(name: "limit", value: "\(limit)")] + after
        ) { try WireJSON.content($0) }
    }

    static func setMembersVisible(_ areVisible: Bool, in topic: String) -> APIRequest<Void> {
        APIRequest(method: "PUT", path: "/v1/topics/\(topic)/settings", body: .json(WireJSON.data(Settings(membersVisible: areVisible)))) {
            _ in
        }
    }

    static func topics(after cursor: String?, limit: Int) -> APIRequest<TopicList> { list("/v1/topics", after: cursor, limit: limit) }

    static func invitations(after cursor: String?, limit: Int) -> APIRequest<InvitationList> {
        list("/v1/invitations", after: cursor, limit: limit)
    }

    static func photos(of topic: String, after cursor: String?, limit: Int) -> APIRequest<PhotoList> {
        list("/v1/topics/\(topic)/photos", after: cursor, limit: limit)
    }

    private static func list<Page: Decodable>(_ path: String, after cursor: String?, limit: Int) -> APIRequest<Page> {
        let after = cursor.map { [URLQueryItem(name: "cursor", value: $0)] } ?? []
        return APIRequest(method: "GET", path: path, query: [URLQueryItem(name: "limit", value: "\(limit)")] + after) {
            try WireJSON.content($0)
        }
    }

    /// A repetition gets the same answer by the message's id, so its key need not outlive the call.
    static func post(_ message: ChatClient.Message, to topic: String) -> APIRequest<ChatClient.Posted> {
        let body = Message(messageID: message.id, text: message.text, sensitive: message.isSensitive ? true : nil)
        return APIRequest(
            method: "POST", path: "/v1/topics/\(topic)/messages", body: .json(WireJSON.data(body)), idempotencyKey: UUID()
        ) { try WireJSON.content($0) }
    }

    static func read(_ topic: String, upTo messageID: String?) -> APIRequest<TopicUnread> {
        APIRequest(
            method: "POST", path: "/v1/topics/\(topic)/read", body: .json(WireJSON.data(Read(messageID: messageID))),
            idempotencyKey: UUID()
        ) { try WireJSON.content($0) }
    }

    /// Adds a photo. The answer to a repetition with the same key and photo is the first one, for 24 hours.
    /// - Parameter body: The form, with the photo in the field `photo`.
    static func addPhoto(to topic: String, body: APIRequest<UUID>.Body, key: UUID) -> APIRequest<UUID> {
        APIRequest(
            method: "POST", path: "/v1/topics/\(topic)/photos", body: body, idempotencyKey: key, timeout: .seconds(120)
        ) { response in
            let answer: Photo = try WireJSON.content(response)
            return answer.photoID
        }
    }

    private static func members(_ topic: String, _ user: String) -> String { "/v1/topics/\(topic)/members/\(user)" }
}
