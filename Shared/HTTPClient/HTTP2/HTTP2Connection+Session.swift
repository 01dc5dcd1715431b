internal import CNGHTTP2

/// Callbacks of the session.
extension HTTP2Connection {
    func settingsReceived() {
        maxStreams = min(configuration.maxStreamsPerConnection, session.maxRemoteStreams)
        markReady()
    }

    /// Drains the connection. nghttp2 reports the streams that the server will not serve as closed.
    func goAwayReceived(code: UInt32) {
        if state != .failed { state = .draining }
    }

    func headBegan(slot: Int?) {
        callReceivingHead = slot.flatMap { streams[$0] }
        callReceivingHead?.beginHead()
    }

    func headerReceived(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard let call = callReceivingHead, !call.isEnded else { return }
        let max = configuration.maxResponseHeadByteCount
        if !call.receive(name: name, value: value, maxByteCount: max) {
            abandon(call, .responseTooLarge, "the response's head is larger than \(max) bytes")
        }
    }

    func bodyReceived(slot: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let call = streams[slot], !call.isEnded else { return }
        let max = configuration.maxResponseBodyByteCount
        if !call.receive(body: bytes, maxByteCount: max) {
            abandon(call, .responseTooLarge, "the response is larger than \(max) bytes")
        }
    }

    /// Gives nghttp2 the next bytes of a body and returns whether they are the last; nil when the call has ended.
    func readBody(slot: Int, into room: UnsafeMutableRawBufferPointer) -> (byteCount: Int, isLast: Bool)? {
        guard let call = streams[slot], !call.isEnded else { return nil }
        if call.criticalOffset == nil { call.criticalOffset = output.producedByteCount }
        let count = min(room.count, call.body.count - call.bodySentByteCount)
        call.body.withUnsafeBytes { body in
            let start = call.bodySentByteCount
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: body[start..<start + count]))
        }
        call.bodySentByteCount += count
        return (count, call.bodySentByteCount == call.body.count)
    }

    /// Ends the call of a stream that was closed, by its response or by a reset of either side.
    ///
    /// - Parameter isComplete: Whether the server has ended its side of the stream.
    func streamClosed(slot: Int, code: UInt32, isComplete: Bool) {
        guard let call = streams.remove(slot) else { return }
        if callReceivingHead === call { callReceivingHead = nil }
        guard !call.isEnded else { return }
        if code == NGHTTP2_NO_ERROR.rawValue, isComplete, call.hasFinalHead {
            hasAnswered = true
            registry.end(call, .success(call.response))
            return
        }
        let name = String(cString: nghttp2_http2_strerror(code))
        // The only error by which a server promises that it has not processed the request (RFC 9113 § 8.7); nghttp2 also sets it
        // for the streams that a GOAWAY excludes.
        let isRefused = code == NGHTTP2_REFUSED_STREAM.rawValue
        let error = HTTPClientError(
            isRefused ? .notSent : .ambiguous, mayHaveReachedServer: !isRefused, "the stream was reset: \(name)")
        registry.end(call, .failure(error))
    }
}
