import Foundation
import Synchronization

/// Finds a free TCP port.
public enum FreePort {
    /// The ports to choose from: below those that Linux assigns to outgoing connections and to listeners on any port (32768 to
    /// 60999, `net.ipv4.ip_local_port_range`), because one of those could be assigned again before the server of a test has bound
    /// it.
    fileprivate static let range = 10_000..<32_768

    private static let ports = Mutex(ClaimedPorts())

    /// Returns a port without a listener, which no other process of these tests gets; this process does not get it again before it has
    /// tried all others.
    public static func find() throws -> Int {
        for _ in range {
            guard let port = ports.withLock({ $0.next() }) else { break }
            if isFree(UInt16(port)) { return port }
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

/// The ports that belong to this process, in blocks, each by a lock on a file until the process ends.
///
/// Two processes of tests that run at the same time could otherwise find the same port free, and one of their servers would not start.
private struct ClaimedPorts {
    private static let blockSize = 64
    private static let folder = "/tmp/heliograph-test-ports-\(getuid())"

    private var claimed: [Int] = []
    private var others = Array(stride(from: FreePort.range.lowerBound, to: FreePort.range.upperBound, by: blockSize)).shuffled()
    private var ports: [Int] = []

    /// Returns the next port; nil when all blocks belong to other processes.
    mutating func next() -> Int? {
        while ports.isEmpty, let block = others.popLast() {
            guard Self.claim(block) else { continue }
            claimed.append(block)
            ports = Self.ports(of: block)
        }
        if ports.isEmpty { ports = claimed.flatMap(Self.ports) }
        return ports.popLast()
    }

    private static func ports(of block: Int) -> [Int] { Array(block..<min(block + blockSize, FreePort.range.upperBound)) }

    /// Locks the file of a block, which is never closed.
    private static func claim(_ block: Int) -> Bool {
        mkdir(folder, 0o700)
        let file = open("\(folder)/\(block)", O_CREAT | O_RDONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
        close(file)
        return false
    }
}
