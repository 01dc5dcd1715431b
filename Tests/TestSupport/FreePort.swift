import Foundation
import Synchronization

/// Finds a free TCP port.
public enum FreePort {
    /// The ports to choose from: below those that Linux assigns to outgoing connections and to listeners on any port (32768 to
    /// 60999, `net.ipv4.ip_local_port_range`), because one of those could be assigned again before the server of a test has bound
    /// it.
    private static let range: Range<UInt16> = 10_000..<32_768

    /// The next port to try. Each process begins at a random one, so that two concurrent processes rarely try the same.
    private static let next = Mutex(range.randomElement()!)

    /// Returns a port without a listener; this process does not get it again before it has tried all others.
    public static func find() throws -> Int {
        for _ in range {
            let port = next.withLock { next in
                defer { next = next + 1 < range.upperBound ? next + 1 : range.lowerBound }
                return next
            }
            if isFree(port) { return Int(port) }
        }
        throw POSIXError(.EADDRINUSE)
    }

    static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Servers set this too: with it, closed connections do not prevent the bind, but a listener does.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // Binds all addresses, as some servers do.
        address.sin_addr.s_addr = 0
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
