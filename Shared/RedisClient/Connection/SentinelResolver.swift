/// Asks Sentinels which server is the master.
///
/// Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
struct SentinelResolver: Sendable {
    /// How long one Sentinel may take, so that one that is gone does not use up the time for the others.
    private static let askTimeout: Duration = .seconds(1)

    let sentinels: RedisSentinels
    /// Makes the connector to one of them.
    let connector: @Sendable (RedisSentinels.Address, _ timeout: Duration) -> RedisConnector

    /// Returns where the master listens.
    ///
    /// - Throws: ``RedisError/Code/connectionFailed`` when none of them knows, ``RedisError/Code/authenticationFailed`` when they let
    ///   nobody in with these credentials, cancellation.
    func master() async throws(RedisError) -> RedisSentinels.Address {
        var failure: RedisError?
        for address in sentinels.addresses.shuffled() {
            do throws(RedisError) {
                if let master = try await ask(address) { return master }
                failure = RedisError(.connectionFailed, "the Sentinel at \(address) knows no master \(sentinels.masterName)")
            } catch {
                if error.code == .cancelled { throw error }
                failure = error
            }
        }
        if let failure, failure.code == .authenticationFailed { throw failure }
        throw RedisError(.connectionFailed, "no Sentinel says where \(sentinels.masterName) is", underlying: failure)
    }

    /// What one Sentinel says; nil when it does not know the master.
    private func ask(_ address: RedisSentinels.Address) async throws(RedisError) -> RedisSentinels.Address? {
        let connection = try await connector(address, Self.askTimeout).connect(dedicated: true) { _ in }
        defer { connection.closeNow() }
        let reply = try await connection.send(
            RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", sentinels.masterName), timeout: Self.askTimeout)
        if reply.isNull { return nil }
        guard let parts = reply.array, parts.count == 2, let host = parts[0].string, let port = parts[1].string.flatMap({ Int($0) }) else {
            throw RedisError(.unexpectedReply, "the Sentinel at \(address) does not answer as Sentinels do")
        }
        return RedisSentinels.Address(host: host, port: port)
    }
}
