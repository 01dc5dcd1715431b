import Foundation

/// Sends one request to the admin port of a running service, for a container's health check.
///
/// It uses a blocking socket, because this request is the whole work of a process that lives for milliseconds.
enum HealthcheckClient {
    /// Whether `GET path` on `host:port` answers 200 within `timeoutSeconds`.
    static func isOK(host: String, port: Int, path: String, timeoutSeconds: Int = 3) -> Bool {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found else { return false }
        defer { freeaddrinfo(found) }
        let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, address.pointee.ai_protocol)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        guard connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else { return false }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return false }
        var answer = [UInt8](repeating: 0, count: 16)
        let count = recv(descriptor, &answer, answer.count, Int32(MSG_WAITALL))
        return count >= 12 && String(decoding: answer.prefix(12), as: UTF8.self) == "HTTP/1.1 200"
    }
}
