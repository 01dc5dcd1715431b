/// Limits actions by the client's address, and by the wider blocks that it is part of, each with a multiple of the rate.
///
/// An organisation gets a /48 of IPv6, with 65,536 addresses of the limits, or a /24 of IPv4. Many people may be behind one, so a block has
/// more than an address, and far less than all its addresses together.
final class PrefixRateLimiter: Sendable {
    private let limiters: [RateLimiter<IPAddress>]

    /// - Parameter name: The name of the policy in responses; each address is under it, whatever block it is part of.
    init(_ rate: Rate, name: String) {
        limiters = IPAddress.Block.allCases.map { block in
            let times = block.allowance
            return RateLimiter(Rate(perMinute: rate.perMinute * times, burst: rate.burst * times), name: name)
        }
    }

    /// Takes a token of the address and of each block. A refusal takes no token of a wider block, which others share.
    ///
    /// - Throws: `rate_limited` with this message.
    func admit(_ client: IPAddress, _ limits: RateLimitRecord, or message: String) throws(APIError) {
        for (block, limiter) in zip(IPAddress.Block.allCases, limiters) {
            let state = limiter.state(taking: client.prefix(block))
            // Report the limit of the client's own address, and that of a wider block only when it refuses: others share the block.
            if let state, block == .subscriber || state.wait != nil { limits.note(state) }
            if let wait = state?.wait { throw .rateLimited(message, wait: wait) }
        }
    }
}
