internal import Hummingbird
internal import JSON

/// Answers `GET /v1/consent`: the text that a sign-up has to consent to, if there is one.
struct ConsentController: Sendable {
    /// The requirement; nil when no consent is needed.
    let requirement: ConsentRequirement?

    func get(_: Request, _ context: APIRequestContext) async throws -> Response {
        guard let requirement else { return Answer.json(Answer.data(.members(("required", false)), context.requestID)) }
        let members =
            [JSONValue.Member("required", true)] + ConsentRequirement.describe(requirement.current)
            + [JSONValue.Member("text", .string(requirement.text))]
        return Answer.json(Answer.data(.object(members), context.requestID))
    }
}
