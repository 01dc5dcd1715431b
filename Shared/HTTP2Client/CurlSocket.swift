internal import CLibCurl
internal import HTTPClient

/// A connection that libcurl has made and that its owner reads and writes: TCP, or TLS over it, through proxies or not.
///
/// Sendable is unchecked: it is handed from the thread that connects to the client's through the mailbox, and one thread
/// at a time uses it, which is all that libcurl asks of a handle.
final class CurlSocket: @unchecked Sendable {
    /// What became of an attempt to read or write.
    enum Outcome {
        case done(byteCount: Int)
        /// Nothing can be done before the socket is ready again.
        case blocked
        case failed(String)
    }

    /// What to wait on.
    let descriptor: curl_socket_t
    private let easy: UnsafeMutableRawPointer

    /// Takes over a handle that is connected.
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

    /// Writes what can be written now. After `blocked`, the same bytes must come again, with more behind them or not.
    func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        var count = 0
        return Self.outcome(curl_easy_send(easy, bytes.baseAddress, bytes.count, &count), count)
    }

    /// Reads what is there; no bytes at all mean that the other side has closed.
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
