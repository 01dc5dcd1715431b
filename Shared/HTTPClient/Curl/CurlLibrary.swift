internal import CLibCurl

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Set-up that all uses of libcurl share.
package enum CurlLibrary {
    /// Whether libcurl was initialised; the first read initialises it.
    package static let isReady = hg_global_init() == CURLE_OK

    /// Makes the multi handle of a client's thread; the caller cleans it up.
    static func makeMulti() -> UnsafeMutableRawPointer {
        guard isReady, let multi = curl_multi_init() else {
            preconditionFailure("cannot initialise libcurl: no memory or no random numbers")
        }
        return multi
    }

    /// Sets the options of an easy handle for connecting and for the detection of dead connections.
    package static func setUpConnection(
        _ easy: UnsafeMutableRawPointer, caFile: String?, connectTimeout: Duration, unacknowledgedTimeout: Duration
    ) {
        // A signal would be delivered to an arbitrary thread.
        hg_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        if let caFile { hg_easy_set_string(easy, CURLOPT_CAINFO, caFile) }
        hg_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, connectTimeout.curlMilliseconds)
        hg_easy_set_long(easy, CURLOPT_TCP_NODELAY, 1)
        hg_easy_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        setUpDeadConnectionDetection(easy, unacknowledgedTimeout)
    }

    /// Lets the kernel end connections whose peer is gone. Otherwise a dead HTTP/2 connection would swallow one request after
    /// another, because a timeout ends only a stream.
    private static func setUpDeadConnectionDetection(_ easy: UnsafeMutableRawPointer, _ timeout: Duration) {
        #if os(Linux)
            hg_easy_set_pointer(easy, CURLOPT_SOCKOPTDATA, UnsafeMutableRawPointer(bitPattern: timeout.curlMilliseconds))
            hg_easy_set_socket_callback(easy, CURLOPT_SOCKOPTFUNCTION) { context, socket, _ in
                var milliseconds = UInt32(clamping: Int(bitPattern: context))
                let size = socklen_t(MemoryLayout<UInt32>.size)
                _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
                return CURL_SOCKOPT_OK
            }
        #endif
    }
}
