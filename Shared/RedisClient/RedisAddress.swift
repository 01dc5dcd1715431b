/// The TCP address of a Redis server or a Sentinel.
public struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    /// The host's name, or an IPv4 or IPv6 address without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int

    /// Creates an address; `host` is looked up at each attempt to connect.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `host:port`, with an IPv6 address in brackets.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
