/// Asks Sentinels which server is the master.
///
/// Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
struct SentinelResolver: Sendable {
    /// The time limit for one Sentinel, so that a Sentinel that is down does not use up the time for the others.
    private static let queryTimeout: Duration = .seconds(1)

    let sentinels: RedisSentinels
    /// Makes the connector to one Sentinel.
    let connector: @Sendable (RedisAddress, _ timeout: Duration) -> RedisConnector

    /// Returns the address of the master.
    ///
    /// - Throws: ``RedisError/Code/connectionFailed`` when no Sentinel knows it, ``RedisError/Code/authenticationFailed`` when the last
    ///   asked Sentinel refused the credentials, ``RedisError/Code/cancelled``.
    func master() async throws(RedisError) -> RedisAddress {
        var failure: RedisError?
        for address in sentinels.addresses.shuffled() {
            do throws(RedisError) {
                if let master = try await masterAddress(from: address) { return master }
                failure = RedisError(.connectionFailed, "the Sentinel at \(address) does not know a master \(sentinels.masterName)")
            } catch {
                if error.code == .cancelled { throw error }
                failure = error
            }
        }
        if let failure, failure.code == .authenticationFailed { throw failure }
        throw RedisError(.connectionFailed, "no Sentinel knows the address of \(sentinels.masterName)", underlying: failure)
    }

    /// Asks one Sentinel for the address of the master; nil when it does not know the master.
    private func masterAddress(from address: RedisAddress) async throws(RedisError) -> RedisAddress? {
        let connection = try await connector(address, Self.queryTimeout).connect(dedicated: true) { _ in }
        defer { connection.closeNow() }
        let reply = try await connection.send(
            RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", sentinels.masterName), timeout: Self.queryTimeout)
        if reply.isNull { return nil }
        guard let parts = reply.array, parts.count == 2, let host = parts[0].string, let port = parts[1].string.flatMap({ Int($0) }) else {
            throw RedisError(.unexpectedReply, "the Sentinel at \(address) sent a reply that is not an address")
        }
        return RedisAddress(host: host, port: port)
    }
}
