internal import CLibCurl

/// A connected socket of libcurl that its owner reads and writes: TCP or TLS, directly or through a proxy.
///
/// Sendable is unchecked: the connecting thread hands it to the client's thread through the mailbox. Only one thread at a time uses it, and
/// libcurl requires no more of a handle.
final class CurlSocket: @unchecked Sendable {
    /// The result of an attempt to read or write.
    enum Outcome {
        case done(byteCount: Int)
        /// The socket is not ready; poll it before the next attempt.
        case blocked
        case failed(String)
    }

    /// The descriptor to poll.
    let descriptor: curl_socket_t
    private let easy: UnsafeMutableRawPointer

    /// Takes ownership of a connected handle.
    init?(connected easy: UnsafeMutableRawPointer) {
        var descriptor = CURL_SOCKET_BAD
        guard hg_easy_get_socket(easy, CURLINFO_ACTIVESOCKET, &descriptor) == CURLE_OK, descriptor != CURL_SOCKET_BAD else {
            return nil
        }
        self.easy = easy
        self.descriptor = descriptor
    }

    /// Closes the connection.
    deinit { curl_easy_cleanup(easy) }

    /// Writes as many bytes as the socket accepts. After `blocked`, the next call must begin with the same bytes; more may follow them.
    func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        var count = 0
        return Self.outcome(curl_easy_send(easy, bytes.baseAddress, bytes.count, &count), count)
    }

    /// Reads the available bytes; a count of 0 means that the peer has closed the connection.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        var count = 0
        return Self.outcome(curl_easy_recv(easy, buffer.baseAddress, buffer.count, &count), count)
    }

    private static func outcome(_ result: CURLcode, _ count: Int) -> Outcome {
        switch result {
        case CURLE_OK: .done(byteCount: count)
        case CURLE_AGAIN: .blocked
        default: .failed(String(cString: curl_easy_strerror(result)))
        }
    }
}
