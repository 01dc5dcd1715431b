internal import CLibCurl

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Detection of a server that keeps its connections open and sends nothing on them.
extension CurlTransfer {
    /// The bytes of a request and its response at the last count, and the time since which this number has not changed.
    struct Progress {
        var byteCount = 0
        var since: ContinuousClock.Instant
    }

    /// Whether a part of the request was sent.
    var hasBegun: Bool { long(CURLINFO_REQUEST_SIZE) > 0 }

    /// Returns the time for which no byte of the request or the response has passed; zero until it has begun.
    func silence(now: ContinuousClock.Instant) -> Duration {
        var (uploaded, downloaded) = (curl_off_t(0), curl_off_t(0))
        hg_easy_get_offset(easy, CURLINFO_SIZE_UPLOAD_T, &uploaded)
        hg_easy_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T, &downloaded)
        let count = long(CURLINFO_REQUEST_SIZE) + long(CURLINFO_HEADER_SIZE) + Int(uploaded + downloaded)
        if !hasBegun || count != progress.byteCount { progress = Progress(byteCount: count, since: now) }
        return now - progress.since
    }

    /// Makes libcurl report a timeout when it next handles the transfer.
    func timeOut() { hg_easy_set_long(easy, CURLOPT_TIMEOUT_MS, 1) }

    /// Shuts down the connection of a transfer that libcurl has completed, if the server has sent nothing on it for `duration`, to any
    /// transfer. All its transfers fail then, and no new transfer begins on it.
    func shutDownConnection(silentFor duration: Duration) {
        var socket = CURL_SOCKET_BAD
        guard hg_easy_get_socket(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK, socket != CURL_SOCKET_BAD,
            let silence = Self.silence(of: socket), silence >= duration
        else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Returns the time since the last bytes of the other side; nil where the system does not tell.
    private static func silence(of socket: curl_socket_t) -> Duration? {
        #if os(Linux)
            var info = tcp_info()
            var size = socklen_t(MemoryLayout<tcp_info>.size)
            guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0 else { return nil }
            return .milliseconds(Int(info.tcpi_last_data_recv))
        #else
            return nil
        #endif
    }
}
