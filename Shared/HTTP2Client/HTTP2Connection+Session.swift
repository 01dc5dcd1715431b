internal import CNGHTTP2
internal import HTTPClient

/// What the session says.
extension HTTP2Connection {
    func settingsCame() {
        streamsMax = min(configuration.streamsPerConnectionMax, session.remoteStreamsMax)
        greeted()
    }

    /// The server begins nothing more here. Of the streams that it will not serve nghttp2 says that they are closed.
    func goAwayCame(code: UInt32) {
        if state != .lost { state = .draining }
    }

    func headBegan(slot: Int?) {
        headOf = slot.flatMap { streams[$0] }
        headOf?.beginHead()
    }

    func headContinued(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard let exchange = headOf, !exchange.isEnded else { return }
        let max = configuration.responseHeadByteCountMax
        if !exchange.receive(name: name, value: value, byteCountMax: max) {
            abandon(exchange, .responseTooLarge, "the response's head is larger than \(max) bytes")
        }
    }

    func bodyCame(slot: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let exchange = streams[slot], !exchange.isEnded else { return }
        let max = configuration.responseBodyByteCountMax
        if !exchange.receive(body: bytes, byteCountMax: max) {
            abandon(exchange, .responseTooLarge, "the response is larger than \(max) bytes")
        }
    }

    /// Gives nghttp2 the next bytes of a body and says whether they are the last; nil when nobody waits for the call.
    func readBody(slot: Int, into room: UnsafeMutableRawBufferPointer) -> (byteCount: Int, isLast: Bool)? {
        guard let exchange = streams[slot], !exchange.isEnded else { return nil }
        if exchange.criticalOffset == nil { exchange.criticalOffset = output.producedByteCount }
        let count = min(room.count, exchange.body.count - exchange.bodySentByteCount)
        exchange.body.withUnsafeBytes { body in
            let start = exchange.bodySentByteCount
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: body[start..<start + count]))
        }
        exchange.bodySentByteCount += count
        return (count, exchange.bodySentByteCount == exchange.body.count)
    }

    /// A stream has ended: by its answer, or by either side's word.
    ///
    /// - Parameter isComplete: Whether the server has sent all it had to send.
    func streamClosed(slot: Int, code: UInt32, isComplete: Bool) {
        guard let exchange = streams.remove(slot) else { return }
        if headOf === exchange { headOf = nil }
        guard !exchange.isEnded else { return }
        if code == NGHTTP2_NO_ERROR.rawValue, isComplete, exchange.hasFinalHead {
            hasAnswered = true
            desk.end(exchange, .success(exchange.response))
            return
        }
        let name = String(cString: nghttp2_http2_strerror(code))
        // The one error by which a server promises that it has not looked at the request (RFC 9113 § 8.7); nghttp2 gives it
        // to those that a GOAWAY leaves out, too.
        let isRefused = code == NGHTTP2_REFUSED_STREAM.rawValue
        let error = HTTPClientError(
            isRefused ? .notSent : .ambiguous, mayHaveReachedServer: !isRefused, "the stream was reset: \(name)")
        desk.end(exchange, .failure(error))
    }
}
