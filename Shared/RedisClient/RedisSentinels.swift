/// The Sentinels that monitor a Redis server and its replicas, and know which of them is the master.
public struct RedisSentinels: Hashable, Sendable {
    /// The address of one Sentinel, or of the master it names.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        public var host: String
        public var port: Int

        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// `host:port`, with an IPv6 address in brackets.
        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// The Sentinels to ask, in a random order each time; the answer of one is enough.
    public var addresses: [Address]
    /// The name under which the Sentinels know the master.
    public var masterName: String

    public init(addresses: [Address], masterName: String) {
        self.addresses = addresses
        self.masterName = masterName
    }
}
