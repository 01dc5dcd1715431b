internal import HTTPTypes
internal import Hummingbird

/// Determines the client address of a request, and refuses the request when that address has sent too many.
struct RateLimitMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    let addresses: ClientAddresses
    let limiter: RateLimiter<IPAddress>

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.client = addresses.client(peer: context.channel.peer, forwardedFor: request.headers[values: .forwardedFor])
        try limiter.admit(context.client.subscriber, context.limits, or: "Too many requests from this address")
        return try await next(request, context)
    }
}
