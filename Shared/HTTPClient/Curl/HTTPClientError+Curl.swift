internal import CLibCurl

extension HTTPClientError {
    /// The facts about a transfer that ended without a response.
    struct Evidence {
        let result: CURLcode
        /// Bytes of the body that were passed to the connection.
        let uploadedByteCount: Int
        /// Bytes of the header block that were passed to the connection.
        let requestHeadByteCount: Int
        let bodyByteCount: Int
        /// The content of libcurl's error buffer.
        let detail: String

        /// Makes the evidence of a transfer; the defaults mean that nothing was sent.
        init(
            result: CURLcode, uploadedByteCount: Int = 0, requestHeadByteCount: Int = 0, bodyByteCount: Int = 0, detail: String
        ) {
            self.result = result
            self.uploadedByteCount = uploadedByteCount
            self.requestHeadByteCount = requestHeadByteCount
            self.bodyByteCount = bodyByteCount
            self.detail = detail
        }

        /// Whether the server may hold a complete request.
        ///
        /// A request with a body is incomplete until a byte of the body was sent; without a body the header block is the
        /// whole request.
        var mayHaveReachedServer: Bool {
            bodyByteCount > 0 ? uploadedByteCount > 0 : requestHeadByteCount > 0
        }
    }

    /// Classifies a failure of libcurl. The code alone does not tell whether the request was sent, so the bytes decide.
    init(_ evidence: Evidence) {
        let code: Code
        var mayHaveReachedServer = evidence.mayHaveReachedServer
        switch evidence.result {
        // libcurl also reports an unsupported protocol when the response is not HTTP: then the request was sent.
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT,
            CURLE_UNSUPPORTED_PROTOCOL where evidence.requestHeadByteCount == 0:
            code = .invalidRequest
            mayHaveReachedServer = false
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR,
            CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR:
            code = .notSent
            mayHaveReachedServer = false
        case CURLE_OPERATION_TIMEDOUT:
            code = .timeout
        default:
            code = mayHaveReachedServer ? .ambiguous : .notSent
        }
        let reason = evidence.detail.isEmpty ? String(cString: curl_easy_strerror(evidence.result)) : evidence.detail
        self.init(
            code, mayHaveReachedServer: mayHaveReachedServer, reason, curlCode: Int(evidence.result.rawValue))
    }

    static let shutDown = HTTPClientError(.shutDown, mayHaveReachedServer: false, "the client was shut down")

    package static let cancelledBeforehand = HTTPClientError(
        .cancelled, mayHaveReachedServer: false, "the caller was cancelled before the request was sent")
}
