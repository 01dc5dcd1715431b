import Foundation

@testable import MobileClient

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// An HTTP server on this machine, whose answers a test writes byte by byte. Each connection has a thread of its own and one request.
final class LocalServer: Sendable {
    /// A request as it came.
    struct Received: Sendable {
        var method: String
        var target: String
        /// By names in lower case.
        var headers: [String: String]
        var body: Data
    }

    let port: UInt16
    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }
    private let listener: Int32
    private let log = Locked<[Received]>([])

    var received: [Received] { log.withLock { $0 } }

    /// - Parameter answer: Writes the answer; runs on a thread that may block. The connection is closed after it.
    init(_ answer: @escaping @Sendable (Received, LocalConnection) -> Void) throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let listener = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        let log = log
        Thread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                Thread {
                    let connection = LocalConnection(descriptor)
                    defer { connection.end() }
                    guard let request = connection.readRequest() else { return }
                    log.withLock { $0.append(request) }
                    answer(request, connection)
                }.start()
            }
            // Here, and not at the end of the server: this thread could go on with the number when it is another server's already.
            close(listener)
        }.start()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

/// A connection to a ``LocalServer``. Its methods block.
final class LocalConnection: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Writes bytes; returns whether the other side takes them.
    @discardableResult
    func write(_ data: Data) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { write(Data(text.utf8)) }

    /// Writes a whole answer.
    func answer(_ status: String = "200 OK", _ headers: [String: String] = [:], _ body: String = "") {
        let fields = headers.map { "\($0): \($1)\r\n" }.joined()
        write("HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    /// Waits until the other side has ended the connection.
    func waitForEnd() {
        while let piece = read(), !piece.isEmpty {}
    }

    func end() { close(descriptor) }

    private func read() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Data(buffer.prefix(count))
    }

    /// Reads a request; nil when it is cut off.
    fileprivate func readRequest() -> LocalServer.Received? {
        var data = Data()
        var end: Range<Data.Index>?
        while end == nil {
            guard let piece = read(), !piece.isEmpty else { return nil }
            data.append(piece)
            end = data.range(of: Data("\r\n\r\n".utf8))
        }
        guard let end else { return nil }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let start = lines[0].split(separator: " ")
        guard start.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
        }
        var body = data[end.upperBound...]
        if headers["expect"]?.lowercased() == "100-continue" { write("HTTP/1.1 100 Continue\r\n\r\n") }
        while body.count < Int(headers["content-length"] ?? "0") ?? 0 {
            guard let piece = read(), !piece.isEmpty else { return nil }
            body.append(piece)
        }
        return LocalServer.Received(method: String(start[0]), target: String(start[1]), headers: headers, body: Data(body))
    }
}
