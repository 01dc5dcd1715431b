/// The Sentinels that monitor a Redis server and its replicas, and know the present master.
public struct RedisSentinels: Hashable, Sendable {
    /// The Sentinels to ask, in a random order each time; the answer of one is enough.
    public var addresses: [RedisAddress]
    /// The name under which the Sentinels know the master.
    public var masterName: String

    /// Names the Sentinels to ask, and the master that they are asked for.
    public init(addresses: [RedisAddress], masterName: String) {
        self.addresses = addresses
        self.masterName = masterName
    }
}
