internal import Accounts
internal import FoundationEssentials
internal import JSON
internal import PostgresClient
internal import WireFormat

/// Answers `GET` and `PUT /v1/users/me/{list}`, and `PUT` and `DELETE /v1/users/me/{list}/{user_id}`: the `blocks` and `contacts` of the
/// sender.
///
/// An id that belongs to no account is listed the same way, so that the response discloses nothing.
struct PeopleListController: Sendable {
    let kind: PeopleList
    let postgres: PostgresClient

    func list(_ call: UserCall) async throws -> [ListedUser] { try await people(of: call.sender) }

    func replace(_ call: APICall<Identity, Void, PeopleListBody>) async throws -> [ListedUser] {
        let identity = call.sender
        for id in call.body.ids { try Self.check(id, identity) }
        try await postgres.withTransaction {
            try await PeopleListRepository(kind, $0).replace(with: call.body.ids, for: identity.userID)
        }
        return try await people(of: identity)
    }

    func put(_ call: APICall<Identity, UUID, EmptyBody>) async throws {
        let (identity, id) = (call.sender, call.target)
        try Self.check(id, identity)
        let isListed = try await postgres.withTransaction { try await PeopleListRepository(kind, $0).add(id, for: identity.userID) }
        guard isListed else { throw APIError(.limitReached, "A user has up to \(PeopleList.maxCount) \(kind.rawValue)") }
    }

    func delete(_ call: APICall<Identity, UUID, EmptyBody>) async throws {
        try await PeopleListRepository(kind, postgres).remove(call.target, for: call.sender.userID)
    }

    private func people(of identity: Identity) async throws -> [ListedUser] {
        try await PeopleListRepository(kind, postgres).people(of: identity.userID)
    }

    private static func check(_ id: UUID, _ identity: Identity) throws(APIError) {
        guard id != identity.userID else { throw APIError(.invalidRequest, "A user cannot be on a list of their own", field: "user_id") }
    }
}

/// The body that replaces a list of people.
struct PeopleListBody: JSONObjectBody {
    static let fields = BodyFields<PeopleListBody>(.userIDs("user_ids", upTo: PeopleList.maxCount)) { PeopleListBody(ids: $0) }
    /// The most ids, each with quotes, a comma and some white space.
    static let maxBytes = PeopleList.maxCount * 64 + 1_024

    let ids: [UUID]
}

extension ListedUser: APIObject {
    static let members: [APIMember<ListedUser>] = [.required("user_id", \.userID), .required("created_at", \.createdAt)]
}

extension BodyFields<[UUID]> {
    /// Different user ids.
    static func userIDs(_ name: String, upTo maxCount: Int) -> BodyFields {
        BodyFields(name, .array(of: .uuid, upTo: maxCount)) { body, name throws(APIError) in try body.userIDs(name, upTo: maxCount) }
    }
}

extension JSONBody {
    /// The different user ids of a required array.
    ///
    /// - Throws: `missing_field`; `invalid_request` for an element that is no UUID, and for more than `maxCount` elements.
    func userIDs(_ name: String, upTo maxCount: Int) throws(APIError) -> [UUID] {
        guard let elements = try array(name) else { throw APIError(.missingField, "A field is missing", field: name) }
        guard elements.count <= maxCount else { throw APIError(.invalidRequest, "There are up to \(maxCount) users", field: name) }
        var seen = Set<UUID>()
        var ids: [UUID] = []
        for element in elements {
            guard let id = element.string.flatMap({ UUID(wireString: $0) }) else {
                throw APIError(.invalidRequest, "A user is named by a UUID", field: name)
            }
            if seen.insert(id).inserted { ids.append(id) }
        }
        return ids
    }
}
