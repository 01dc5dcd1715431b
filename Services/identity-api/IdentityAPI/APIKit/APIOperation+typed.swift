internal import HTTPTypes
internal import Hummingbird

extension APIOperation {
    /// Declares a request once: its description and its checks follow from the types of its sender, parameters, body and reply.
    ///
    /// The checks are the same for each request, and in this order: the bearer, the limit of the account, a recent sign-in, the path and
    /// the query, the body. The first that fails refuses the request.
    init<Sender, Target, Body: APIRequestBody, Reply>(
        _ method: HTTPRequest.Method, _ target: APITarget<Target>, id: String, area: APIArea, summary: String,
        from sender: RequestSender<Sender>, reply: APIResult<Reply>, errors: Set<ErrorCode> = [], repetition: String? = nil,
        handler: @escaping @Sendable (APIRoutes) -> @Sendable (APICall<Sender, Target, Body>) async throws -> Reply
    ) {
        let inPath = target.parameters.filter { $0.place == .path }
        let others = target.parameters.filter { $0.place != .path }
        self.init(
            method: method, path: target.path, id: id, area: area, summary: summary, bearers: sender.bearers,
            parameters: inPath + sender.parameters + others, body: Body.description, replies: reply.replies,
            errors: errors.union(sender.errors), repetition: repetition
        ) { routes in
            let answer = handler(routes)
            return { request, context in
                let owner = try await sender.identify(request, context, routes)
                let values = try target.read(request, context)
                let body = try await Body.read(request, context)
                let call = APICall(sender: owner, target: values, body: body, context: context)
                return reply.response(try await answer(call), context)
            }
        }
    }
}
