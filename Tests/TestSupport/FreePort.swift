import Foundation
import Synchronization

/// Finds a TCP port of 127.0.0.1 without a listener.
public enum FreePort {
    /// Below the ports that Linux gives to outgoing connections and to listeners that ask for any (32768 to 60999,
    /// `net.ipv4.ip_local_port_range`): another process could get one of those before the server of a test has bound it.
    private static let range: Range<UInt16> = 10_000..<32_768

    /// Where this process has come to; each begins elsewhere, so that two at once hardly meet.
    private static let next = Mutex(range.randomElement()!)

    /// Returns a port without a listener, which this process gets again only after all others.
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
        // As servers do: what is left of closed connections is not in their way, a listener is.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // Any address, as some servers bind it.
        address.sin_addr.s_addr = 0
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
