/// Determines a request's client address: the connection's, or the one that trusted proxies report.
struct ClientAddresses: Sendable {
    /// The maximum number of addresses that are read from a forwarding header.
    private static let maxHops = 16

    /// The proxies whose `X-Forwarded-For` is trusted. None by default, because any client can send that header.
    var trustedProxies: [AddressBlock] = []

    /// Returns the address nearest to this server that is not a trusted proxy; the farthest one read when all are trusted.
    ///
    /// - Parameter forwardedFor: the values of `X-Forwarded-For`, in their order. Each proxy appends the address of its peer on the right,
    ///   so the list is read from the right up to the first untrusted address; values that a client invented stand before it.
    func client(peer: IPAddress, forwardedFor: [String]) -> IPAddress {
        guard isTrusted(peer) else { return peer }
        var client = peer
        let hops = forwardedFor.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        for hop in hops.reversed().prefix(Self.maxHops) {
            guard let address = IPAddress(hop.drop { $0 == " " }.prefix { $0 != " " }) else { break }
            client = address
            guard isTrusted(address) else { break }
        }
        return client
    }

    /// Whether an address is one of the trusted proxies.
    func isTrusted(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }
}
