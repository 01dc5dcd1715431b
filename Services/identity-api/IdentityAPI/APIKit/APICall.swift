internal import HTTPTypes

/// A request that has passed the checks of its operation, as the handler gets it.
struct APICall<Sender: Sendable, Target: Sendable, Body: Sendable>: Sendable {
    /// The owner of the bearer token.
    let sender: Sender
    /// The values of the parameters.
    let target: Target
    let body: Body
    /// The method and the header fields, for conditions and ranges.
    let head: HTTPRequest
    /// The id, the trace and the client's address of the request.
    let context: APIRequestContext
}

/// A call of a user, without parameters and without a body.
typealias UserCall = APICall<Identity, Void, EmptyBody>
