import Foundation
import NIOPosix
import Synchronization

/// A bare TCP connection, for requests that no HTTP client would send.
final class RawConnection: Sendable {
    /// The threads of all connections: a waiting test must not occupy a thread that the server needs for its files.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 16)
        threads.start()
        return threads
    }()

    private let descriptor: Int32
    private let isOpen = Mutex(true)

    /// Connects to a port of this machine. Sending and receiving wait up to `patience` seconds.
    ///
    /// - Parameter receiveBuffer: The size of the kernel's receive buffer in bytes; by default the kernel chooses it, up to tens of
    ///   megabytes.
    init(port: Int, patience: Int = 120, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var timeout = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close() }

    /// Sends bytes; false when the other side has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) async throws -> Bool {
        let descriptor = descriptor
        return try await Self.threads.runIfActive {
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { bytes in
                    Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
                if sent < 0, errno == EAGAIN { throw POSIXError(.EAGAIN) }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(sent)
            }
            return true
        }
    }

    func send(_ text: String) async throws { _ = try await send(Array(text.utf8)) }

    /// Sends the head of a POST request.
    ///
    /// - Parameter headers: More header fields, such as `Expect: 100-continue`.
    func post(_ path: String, type: String, length: Int, _ headers: String...) async throws {
        let lines = ["POST \(path) HTTP/1.1", "Host: x", "Content-Type: \(type)", "Content-Length: \(length)"] + headers
        try await send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// Receives until the text contains a mark, or, without one, until the other side closes. Nil after `patience`.
    func receive(until mark: String? = nil) async throws -> String? {
        let descriptor = descriptor
        return try await Self.threads.runIfActive {
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                if let mark, String(decoding: received, as: UTF8.self).contains(mark) { break }
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count < 0, errno == EAGAIN { return nil }
                guard count > 0 else { break }
                received += buffer[..<count]
            }
            return String(decoding: received, as: UTF8.self)
        }
    }

    /// Receives and discards `count` bytes, or fewer if the other side closes before.
    func receive(count: Int) async throws {
        let descriptor = descriptor
        try await Self.threads.runIfActive {
            var buffer = [UInt8](repeating: 0, count: max(count, 1))
            var missing = count
            while missing > 0 {
                let received = recv(descriptor, &buffer, missing, 0)
                guard received > 0 else { break }
                missing -= received
            }
        }
    }

    /// Closes the side of the client, which still receives.
    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        isOpen.withLock { isOpen in
            if isOpen { _ = Foundation.close(descriptor) }
            isOpen = false
        }
    }
}
