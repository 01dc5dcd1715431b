/// Servers that watch over a Redis server and its replicas, and know which of them is the master.
public struct RedisSentinels: Hashable, Sendable {
    /// Where one of them listens.
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

    /// Those that are asked, in an order that is drawn anew each time; one that answers is enough.
    public var addresses: [Address]
    /// What they call the master.
    public var masterName: String

    public init(addresses: [Address], masterName: String) {
        self.addresses = addresses
        self.masterName = masterName
    }
}
