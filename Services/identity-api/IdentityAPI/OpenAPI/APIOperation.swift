internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// A request that the API answers: what it takes and gives, and the handler that answers it.
///
/// The router serves what ``all`` lists, the OpenAPI document is made of it, and the page at `/` of the document, so that there is
/// no request without a description, and no description without a request.
struct APIOperation: Sendable {
    typealias Handler = @Sendable (Request, APIRequestContext) async throws -> Response

    let method: HTTPRequest.Method
    /// The path, with the names of its parameters in braces.
    let path: String
    /// The name of the operation in generated clients, which is published: it is never changed.
    let id: String
    let area: APIArea
    /// What the request is for, in CommonMark.
    let summary: String
    /// The bearers of which the request needs one.
    let bearers: [APIBearer]
    let parameters: [APIParameter]
    let body: APIBody?
    let replies: [APIReply]
    /// The errors beyond those that follow from the bearers and the body; see ``allErrors``.
    let errors: Set<ErrorCode>
    /// The response to a repeated request whose first response was lost, in CommonMark; nil if the request has no side effect, or if its
    /// idempotency key returns the first response.
    let repetition: String?
    /// Finds the handler.
    let handler: @Sendable (APIRoutes) -> Handler

    /// Declares a request once: its description and its checks follow from the types of its sender, parameters, body and reply.
    ///
    /// The checks are the same for each request, and in this order: the bearer, the limit of the account, a recent sign-in, the parameters,
    /// the body. The first that fails refuses the request.
    init<Sender, Target, Body: APIRequestBody, Reply>(
        _ method: HTTPRequest.Method, _ target: APITarget<Target>, id: String, area: APIArea, summary: String,
        from sender: RequestSender<Sender>, reply: APIResult<Reply>, errors: Set<ErrorCode> = [], repetition: String? = nil,
        handler: @escaping @Sendable (APIRoutes) -> @Sendable (APICall<Sender, Target, Body>) async throws -> Reply
    ) {
        (self.method, path, self.id, self.area, self.summary) = (method, target.path, id, area, summary)
        (bearers, body, replies) = (sender.bearers, Body.description, reply.replies)
        parameters = APIParameter.inOrder(target.parameters, ofSender: sender.parameters)
        self.errors = errors.union(sender.errors)
        self.repetition = repetition
        self.handler = { routes in
            let answer = handler(routes)
            return { request, context in
                let owner = try await sender.identify(request, context, routes)
                let values = try target.read(request, context)
                let body = try await Body.read(request, context)
                let call = APICall(sender: owner, target: values, body: body, head: request.head, context: context)
                return reply.response(try await answer(call), context)
            }
        }
    }

    /// All requests, in the order of the document.
    static let all: [APIOperation] =
        service + faces + verifications + tokens + pictures + topics + accounts + signInConfirmations + blocks + contacts + [reportUser]
        + erasures + devices + [setPresence, recordReceipts] + notifications

    /// The path in the notation of the router.
    var pattern: String {
        // `{path}` has several segments, for which OpenAPI has no notation.
        path.replacing("{path}", with: "**").replacing("{", with: ":").replacing("}", with: "")
    }

    /// Every error that the request is answered with, apart from 405 for other methods at its path.
    var allErrors: Set<ErrorCode> {
        let general: Set<ErrorCode> = [.invalidRequest, .rateLimited, .internal, .unavailable]
        return bearers.reduce(general.union(errors).union(body?.errors ?? [])) { $0.union($1.errors) }
    }
}

/// A chapter of the API.
enum APIArea: String, Sendable, CaseIterable {
    case service = "The API itself"
    case faces = "Faces"
    case pictures = "Pictures"
    case topics = "Events and conversations"
    case people = "People and their devices"
    case notifications = "For an app's own server"
}

/// A kind of bearer token.
enum APIBearer: Sendable, Equatable {
    /// The request is answered without a token too.
    case none
    /// The access token of a signed-in user, or the ID token of a Firebase user.
    case access
    /// The token of the session in the path.
    case session
    /// The token of a proven e-mail address.
    case enrolment
    /// The token of an erasure's receipt.
    case receipt
    /// The API key of an app's own server, with a scope.
    case key(scope: String)

    /// The alternatives in the form of a security requirement.
    var requirements: [JSONValue] {
        switch self {
        case .none: [.object([])]
        case .access: [["accessToken": []], ["firebaseToken": []]]
        case .session: [["sessionToken": []]]
        case .enrolment: [["enrolmentToken": []]]
        case .receipt: [["receiptToken": []]]
        case .key(let scope): [["apiKey": [.string(scope)]]]
        }
    }

    /// The errors that a token of this kind can get.
    var errors: Set<ErrorCode> {
        switch self {
        case .none: []
        // A key is refused where a user is needed.
        case .access: [.unauthorized, .forbidden, .overloaded]
        case .session, .enrolment, .receipt: [.unauthorized]
        case .key: [.unauthorized, .forbidden, .overloaded]
        }
    }

    /// The name for readers.
    var title: String {
        switch self {
        case .none: "none"
        case .access: "access"
        case .session: "session"
        case .enrolment: "enrolment"
        case .receipt: "`receipt_token`"
        case .key(let scope): "API key (`\(scope)`)"
        }
    }
}
