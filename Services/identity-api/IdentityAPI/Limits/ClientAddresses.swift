internal import NIOCore

/// Determines a request's client address: the connection's, or the one that trusted proxies report.
struct ClientAddresses: Sendable {
    /// The most hops of a forwarding header that are followed.
    private static let maxHops = 16

    /// The proxies whose `X-Forwarded-For` is believed. None by default: any client can send that header.
    var trustedProxies: [AddressBlock] = []

    /// Returns the last address that was not added by a trusted proxy.
    ///
    /// - Parameter forwardedFor: the values of `X-Forwarded-For`, in their order. Each proxy adds on the right whom it got the
    ///   request from, so the list is read from there, and what an untrusted sender put before it is never reached.
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

    /// Whether it is one of our proxies.
    func isTrusted(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }
}

extension Channel {
    /// The address at the other end of the connection.
    var peer: IPAddress { remoteAddress?.ipAddress.flatMap { IPAddress($0) } ?? .none }
}
