internal import NIOCore

extension Channel {
    /// The address at the other end of the connection.
    var peer: IPAddress { remoteAddress?.ipAddress.flatMap { IPAddress($0) } ?? .none }
}
