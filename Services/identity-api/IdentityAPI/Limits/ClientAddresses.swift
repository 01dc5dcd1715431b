/// Determines a request's client address: the connection's, or the one that trusted proxies report.
struct ClientAddresses: Sendable {
    /// The maximum number of addresses that are read from a forwarding header.
    static let maxHops = 16

    /// The result for one request.
    struct Result: Sendable, Equatable {
        /// The address that limits apply to.
        let client: IPAddress
        /// What speaks against it.
        var doubt: Doubt?
    }

    /// A sign that the settings do not fit the proxies.
    enum Doubt: String, Sendable, CaseIterable {
        /// No proxy is trusted, and the request was forwarded.
        case headerIgnored =
            "X-Forwarded-For is ignored: without TRUSTED_PROXY_HOPS or TRUSTED_PROXIES all clients of a proxy share one limit"
        /// Every address of the header belongs to a trusted proxy, so the client may have invented the address that is taken.
        case allTrusted = "every address of X-Forwarded-For is in TRUSTED_PROXIES: clients may choose their own address"
        /// The header has fewer addresses than proxies are to be counted.
        case fewerHops = "X-Forwarded-For has fewer addresses than TRUSTED_PROXY_HOPS"
    }

    /// The proxies whose `X-Forwarded-For` is trusted. Empty by default, because any client can send that header.
    var trustedProxies: [AddressBlock] = []
    /// The number of proxies between clients and this server; each appends the address of its peer. 0 uses ``trustedProxies``.
    ///
    /// Counting needs no addresses, and holds where a proxy sees the address of a node in place of the client's.
    var trustedHops = 0

    /// Returns the client's address.
    ///
    /// With ``trustedHops`` it is the address that the farthest of these proxies saw. With ``trustedProxies`` it is the address nearest to
    /// this server that is not a trusted proxy; if all are trusted, the farthest address read.
    ///
    /// - Parameter forwardedFor: the values of `X-Forwarded-For`, in their order. Each proxy appends the address of its peer on the right,
    ///   so the list is read from the right; values that a client invented stand before it.
    func client(peer: IPAddress, forwardedFor: [String]) -> Result {
        let hops = forwardedFor.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.reversed()
        guard trustedHops == 0 else { return counted(peer, hops.prefix(trustedHops)) }
        guard isTrusted(peer) else {
            return Result(client: peer, doubt: trustedProxies.isEmpty && !hops.isEmpty ? .headerIgnored : nil)
        }
        var client = peer
        for hop in hops.prefix(Self.maxHops) {
            guard let address = IPAddress(forwarded: hop) else { break }
            client = address
            guard isTrusted(address) else { return Result(client: client) }
        }
        return Result(client: client, doubt: client == peer ? nil : .allTrusted)
    }

    private func counted(_ peer: IPAddress, _ hops: some Collection<Substring>) -> Result {
        var client = peer
        for hop in hops {
            guard let address = IPAddress(forwarded: hop) else { return Result(client: client, doubt: .fewerHops) }
            client = address
        }
        return Result(client: client, doubt: hops.count < trustedHops ? .fewerHops : nil)
    }

    /// Whether a connection of this address is one of a proxy, which carries the requests of many clients.
    func isTrusted(_ address: IPAddress) -> Bool { trustedHops > 0 || trustedProxies.contains { $0.contains(address) } }
}
