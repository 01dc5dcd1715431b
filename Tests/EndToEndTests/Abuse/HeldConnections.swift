import Foundation
import Synchronization

/// Strangers at four addresses who keep connections open with the first byte of a request, and open another one for each that is closed.
///
/// One thread with plain sockets: the strangers share the machine with the server, and what they compute would count as the server's.
final class HeldConnections: Sendable {
    private static let addresses = (1...4).map { "127.0.1.\($0)" }

    private let server: sockaddr_in
    private let each: Int
    private let opened = Atomic(0)
    private let isStopped = Atomic(false)

    /// The connections that were opened.
    var count: Int { opened.load(ordering: .relaxed) }

    /// - Parameter each: The connections of an address.
    init(port: Int, each: Int) {
        server = Self.address("127.0.0.1", port: port)
        self.each = each
    }

    /// Holds connections until `body` has ended, which begins once as many were opened as are held.
    func during<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let (allOpened, allOpen) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        Thread.detachNewThread {
            self.hold { allOpen.finish() }
            end.finish()
        }
        for await _ in allOpened {}
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        isStopped.store(true, ordering: .relaxed)
        for await _ in ended {}
        return try result.get()
    }

    private func hold(_ onAllOpen: () -> Void) {
        let sources = Self.addresses.flatMap { address in Array(repeating: Self.address(address, port: 0), count: each) }
        var sockets = sources.map { pollfd(fd: connect(from: $0), events: Int16(POLLOUT), revents: 0) }
        defer { for socket in sockets where socket.fd >= 0 { close(socket.fd) } }
        while !isStopped.load(ordering: .relaxed) {
            // A look takes the time of all sockets: what happens within a pause is seen by one.
            usleep(20_000)
            poll(&sockets, nfds_t(sockets.count), 100)
            for index in sockets.indices {
                let events = Int32(sockets[index].revents)
                if sockets[index].fd < 0 || events & (POLLIN | POLLERR | POLLHUP) != 0 {
                    if sockets[index].fd >= 0 { close(sockets[index].fd) }
                    sockets[index] = pollfd(fd: connect(from: sources[index]), events: Int16(POLLOUT), revents: 0)
                } else if events & POLLOUT != 0, send(sockets[index].fd, "G", 1, Int32(MSG_NOSIGNAL)) == 1 {
                    sockets[index].events = Int16(POLLIN)
                    if opened.add(1, ordering: .relaxed).newValue == sockets.count { onAllOpen() }
                }
            }
        }
    }

    /// Begins a connection; -1 when there is no socket.
    private func connect(from source: sockaddr_in) -> CInt {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafePointer(to: source) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
        }
        withUnsafePointer(to: server) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(socket, $0, size) }
        }
        return socket
    }

    private static func address(_ text: String, port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, text, &address.sin_addr)
        return address
    }
}
