internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Synchronization

/// Determines the client address of a request and the length of its body, by which limits count, and refuses the request when that address
/// has sent too many.
struct RateLimitMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    let addresses: ClientAddresses
    let limiter: PrefixRateLimiter
    let doubts = DoubtLog()

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let found = addresses.client(peer: context.channel.peer, forwardedFor: request.headers[values: .forwardedFor])
        if let doubt = found.doubt { doubts.note(doubt, context.logger) }
        context.client = found.client
        context.bodyLength = request.bodyLength
        try limiter.admit(context.client, context.limits, or: "Too many requests from this address")
        return try await next(request, context)
    }
}

/// Logs each kind of doubt about client addresses once: a wrong setting shows in every request, and any client can send the header.
final class DoubtLog: Sendable {
    private let noted = Mutex(Set<ClientAddresses.Doubt>())

    func note(_ doubt: ClientAddresses.Doubt, _ logger: Logger) {
        guard noted.withLock({ $0.insert(doubt).inserted }) else { return }
        logger.warning("the address of clients is in doubt", metadata: ["reason": "\(doubt.rawValue)"])
    }
}
