internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import WireFormat

extension TopicName: APIValue {
    static var schema: JSONSchema { .topicName }
    var json: JSONValue { .string(text) }
}

extension APIArgument<TopicName> {
    /// The topic in the path.
    static let topic = APIArgument(.topic) { _, context throws(APIError) in try context.topicName() }

    /// The topic in the path, which has to be of a kind.
    static func topic(_ kind: TopicName.Kind, or refusal: String) -> APIArgument {
        APIArgument(.topic) { _, context throws(APIError) in
            let name = try context.topicName()
            guard name.kind == kind else { throw APIError(.invalidRequest, refusal, field: "topic") }
            return name
        }
    }
}

/// The user in a path, who may be the sender.
struct NamedMember: Sendable {
    fileprivate let text: String

    /// Returns the id; `me` is the sender.
    func id(for sender: Identity) throws(APIError) -> UUID {
        text == "me" ? sender.userID : try id(or: "A user is named by a UUID, or by me")
    }

    /// Returns the id for an app's own server, which has no `me`.
    func idForService() throws(APIError) -> UUID { try id(or: "Another user is named by a UUID") }

    private func id(or message: String) throws(APIError) -> UUID {
        guard let id = UUID(wireString: text) else { throw APIError(.invalidRequest, message, field: "user_id") }
        return id
    }
}

extension APIArgument<NamedMember> {
    static let member = APIArgument(.member) { _, context throws(APIError) in NamedMember(text: context.parameters.get("user") ?? "") }
}

/// The part of a list of members that a request asks for; members are listed by their ids.
struct MemberPosition: Sendable {
    /// The most members of the page.
    let limit: Int
    /// The last member of the page before.
    let after: UUID?
}

extension APIArgument<MemberPosition> {
    /// The queries `limit` and `cursor`.
    static func members(usual: Int, upTo maximum: Int) -> APIArgument {
        APIArgument(.limit(1...maximum, usual: usual), .cursor) { request, _ throws(APIError) in
            let limit = try request.pageLimit(usual: usual, upTo: maximum)
            guard let text = request.query("cursor") else { return MemberPosition(limit: limit, after: nil) }
            guard let id = UUID(wireString: text) else {
                throw APIError(.invalidRequest, "cursor is the next_cursor of the page before", field: "cursor")
            }
            return MemberPosition(limit: limit, after: id)
        }
    }
}
