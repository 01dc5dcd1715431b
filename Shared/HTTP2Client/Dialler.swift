internal import CLibCurl
internal import COpenSSL
internal import HTTPClient

/// Makes connections for HTTP/2, each on a thread of its own that ends with it: names, proxies and TLS block.
struct Dialler: Sendable {
    let origin: HTTP2Origin
    let configuration: HTTP2ClientConfiguration
    let mailbox: HTTP2Mailbox

    /// Starts to connect; the outcome comes by the mailbox.
    func dial() {
        if CurlThread.start({ mailbox.post(connect()) }) { return }
        let reason = "the system gives no thread to connect on"
        mailbox.post(.failure(HTTPClientError(.notSent, mayHaveReachedServer: false, reason)))
    }

    private func connect() -> Result<CurlSocket, HTTPClientError> {
        guard CurlLibrary.isReady, let easy = curl_easy_init() else {
            return .failure(HTTPClientError(.notSent, mayHaveReachedServer: false, "libcurl has no memory"))
        }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CURL_ERROR_SIZE)) { errorText in
            errorText.initialize(repeating: 0)
            setUp(easy)
            hg_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText.baseAddress)
            let result = curl_easy_perform(easy)
            hg_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, nil)
            if result == CURLE_OK, let socket = CurlSocket(connected: easy) { return .success(socket) }
            curl_easy_cleanup(easy)
            let detail = errorText.baseAddress.map { String(cString: $0) } ?? ""
            let error = HTTPClientError(HTTPClientError.Evidence(result: result, detail: detail))
            // A call that waited for a connection has had its own time; what failed is the connection.
            guard error.code == .timeout else { return .failure(error) }
            return .failure(
                HTTPClientError(.notSent, mayHaveReachedServer: false, error.message, curlCode: error.curlCode))
        }
    }

    private func setUp(_ easy: UnsafeMutableRawPointer) {
        hg_easy_set_string(easy, CURLOPT_URL, origin.url)
        hg_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        hg_easy_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
        // A proxy passes bytes on; it is not asked for pages.
        hg_easy_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
        CurlLibrary.setUpConnection(
            easy, caFile: configuration.caFile, connectTimeout: configuration.connectTimeout,
            unacknowledgedTimeout: configuration.unacknowledgedTimeout)
        // If libcurl chose HTTP/2 by itself, it would put its own protocol between us and the connection. So it believes
        // that this is HTTP/1.1, and the choice is written into the TLS context.
        hg_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        hg_easy_set_long(easy, CURLOPT_SSL_ENABLE_ALPN, 0)
        hg_easy_set_tls_callback(easy, CURLOPT_SSL_CTX_FUNCTION) { _, context, _ in
            let context = OpaquePointer(context)
            let protocols: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
            guard SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0 else {
                return CURLE_SSL_CONNECT_ERROR
            }
            // Small records are read from the kernel many at a time.
            SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nil)
            return CURLE_OK
        }
    }
}
