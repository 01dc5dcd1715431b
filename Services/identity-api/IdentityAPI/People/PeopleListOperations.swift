internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird

extension APIOperation {
    /// The users that the sender blocks.
    static let blocks = operations(
        on: .blocks, ids: ("listBlocks", "replaceBlocks", "blockUser", "unblockUser"),
        summaries: ("The users whom one blocks", "Blocks these users, and no others", "Blocks a user", "Ends a block"),
        results: ("The blocked users", "The user is blocked", "The user is not blocked")
    ) { $0.people.blocks }

    /// The users who may add the sender to topics.
    static let contacts = operations(
        on: .contacts, ids: ("listContacts", "replaceContacts", "addContact", "removeContact"),
        summaries: (
            "The users who may add one to their topics without an invitation, unless one blocks them",
            "Allows these users, and no others, to add one to their topics without an invitation",
            "Allows a user to add one to their topics without an invitation", "Takes that back; topics that one is in stay"
        ),
        results: ("The contacts", "The user is a contact", "The user is no contact")
    ) { $0.people.contacts }

    /// The requests about a list of people that the user keeps.
    private static func operations(
        on list: PeopleList, ids: (list: String, replace: String, add: String, remove: String),
        summaries: (list: String, replace: String, add: String, remove: String),
        results: (list: String, added: String, removed: String),
        controller: @escaping @Sendable (APIRoutes) -> PeopleListController
    ) -> [APIOperation] {
        let path = "/v1/users/me/\(list.rawValue)"
        let whole = APITarget(path)
        let one = APITarget(path + "/{user}", .user)
        return [
            APIOperation(
                .get, whole, id: ids.list, area: .people, summary: summaries.list, from: .user(nil),
                reply: .data(results.list, in: list.rawValue), handler: { controller($0).list }),
            APIOperation(
                .put, whole, id: ids.replace, area: .people, summary: summaries.replace, from: .user(.changes),
                reply: .data(results.list, in: list.rawValue), handler: { controller($0).replace }),
            APIOperation(
                .put, one, id: ids.add, area: .people, summary: summaries.add, from: .user(.changes),
                reply: .noContent(results.added), errors: [.limitReached], handler: { controller($0).put }),
            APIOperation(
                .delete, one, id: ids.remove, area: .people, summary: summaries.remove, from: .user(.changes),
                reply: .noContent(results.removed), handler: { controller($0).delete }),
        ]
    }
}

extension APIArgument<UUID> {
    /// Another user, by id.
    static let user = id(
        "user", "The user's id", or: APIError(.invalidRequest, "Another user is named by a UUID", field: "user_id"))
}
