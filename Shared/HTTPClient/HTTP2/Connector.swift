internal import CLibCurl
internal import COpenSSL

/// Makes HTTP/2 connections, each on a short-lived thread, because name resolution, proxies and TLS block.
struct Connector: Sendable {
    let origin: HTTP2Origin
    let configuration: HTTP2ClientConfiguration
    let mailbox: HTTP2Mailbox

    /// Starts to connect; the result is posted to the mailbox.
    func start() {
        if CurlThread.start({ mailbox.post(connect()) }) { return }
        let reason = "cannot create a thread to connect"
        mailbox.post(.failure(HTTPClientError(.notSent, mayHaveReachedServer: false, reason)))
    }

    private func connect() -> Result<CurlSocket, HTTPClientError> {
        guard CurlLibrary.isReady, let easy = curl_easy_init() else {
            return .failure(HTTPClientError(.notSent, mayHaveReachedServer: false, "libcurl is out of memory"))
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
            // A call that waits for a connection has its own timeout; this one only means that connecting failed.
            guard error.code == .timeout else { return .failure(error) }
            return .failure(
                HTTPClientError(.notSent, mayHaveReachedServer: false, error.message, curlCode: error.curlCode))
        }
    }

    private func setUp(_ easy: UnsafeMutableRawPointer) {
        hg_easy_set_string(easy, CURLOPT_URL, origin.url)
        hg_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        hg_easy_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
        // Use a proxy as a tunnel (CONNECT) only.
        hg_easy_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
        CurlLibrary.setUpConnection(
            easy, caFile: configuration.caFile, connectTimeout: configuration.connectTimeout,
            unacknowledgedTimeout: configuration.unacknowledgedTimeout)
        // If libcurl negotiated HTTP/2, it would put its own implementation between this client and the socket. So libcurl is set
        // to HTTP/1.1 without ALPN, and the TLS context offers h2.
        hg_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        hg_easy_set_long(easy, CURLOPT_SSL_ENABLE_ALPN, 0)
        hg_easy_set_tls_callback(easy, CURLOPT_SSL_CTX_FUNCTION) { _, context, _ in
            let context = OpaquePointer(context)
            let protocols: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
            guard SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0 else {
                return CURLE_SSL_CONNECT_ERROR
            }
            // Reads many small records from the kernel at once.
            SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nil)
            return CURLE_OK
        }
    }
}
