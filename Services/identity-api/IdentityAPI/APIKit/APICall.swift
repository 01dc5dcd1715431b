/// A request that has passed the checks of its operation, as the handler gets it.
struct APICall<Sender: Sendable, Target: Sendable, Body: Sendable>: Sendable {
    /// The owner of the bearer token.
    let sender: Sender
    /// The values of the parameters in the path and the query.
    let target: Target
    let body: Body
    /// The id, the trace and the client's address of the request.
    let context: APIRequestContext
}

/// A call of a user, without parameters and without a body.
typealias UserCall = APICall<Identity, Void, EmptyBody>
