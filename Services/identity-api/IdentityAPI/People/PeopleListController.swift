internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `GET` and `PUT /v1/users/me/{list}`, and `PUT` and `DELETE /v1/users/me/{list}/{user_id}`: the `blocks` and `contacts` of the
/// sender.
///
/// An id that belongs to no account is listed the same way, so that the response discloses nothing.
struct PeopleListController: Sendable {
    private static let field = "user_ids"
    /// The maximum size of the JSON: the most ids, each with quotes, a comma and some white space.
    static let maxBodyBytes = PeopleList.maxCount * 64 + 1_024

    let kind: PeopleList
    let postgres: PostgresClient
    let authenticator: any Authenticator
    /// Limits the changes by one account.
    let limiter: RateLimiter<UUID>

    func list(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        return try await answer(identity, context)
    }

    func replace(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await identify(request, context)
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let ids = try body.userIDs(Self.field, upTo: PeopleList.maxCount)
        for id in ids { try Self.check(id, identity) }
        try await postgres.withTransaction { try await PeopleListRepository(kind, $0).replace(with: ids, for: identity.userID) }
        return try await answer(identity, context)
    }

    func put(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await identify(request, context)
        let id = try context.member()
        try Self.check(id, identity)
        let isListed = try await postgres.withTransaction { try await PeopleListRepository(kind, $0).add(id, for: identity.userID) }
        guard isListed else { throw APIError(.limitReached, "A user has up to \(PeopleList.maxCount) \(kind.rawValue)") }
        return Response(status: .noContent)
    }

    func delete(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await identify(request, context)
        try await PeopleListRepository(kind, postgres).remove(try context.member(), for: identity.userID)
        return Response(status: .noContent)
    }

    private func identify(_ request: Request, _ context: APIRequestContext) async throws -> Identity {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many changes by this account")
        return identity
    }

    private func answer(_ identity: Identity, _ context: APIRequestContext) async throws -> Response {
        let people = try await PeopleListRepository(kind, postgres).people(of: identity.userID).map { person in
            JSONValue.members(
                ("user_id", .string(person.userID.wireString)), ("created_at", .string(Answer.timestamp(person.createdAt))))
        }
        return Answer.json(Answer.data(.members((kind.rawValue, .array(people))), context.requestID))
    }

    private static func check(_ id: UUID, _ identity: Identity) throws(APIError) {
        guard id != identity.userID else { throw APIError(.invalidRequest, "A user cannot be on a list of their own", field: "user_id") }
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
