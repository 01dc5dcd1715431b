/// An open call: its request with the progress of sending, and the part of the response received so far.
///
/// Confined to the client's thread. An ended call is kept until the connection removes its stream, because nghttp2 may still ask for the
/// body.
final class Call {
    let id: UInt64
    let request: HTTP2Request
    let body: [UInt8]
    let isUrgent: Bool
    let deadline: ContinuousClock.Instant
    /// Nil once it was called.
    private var completion: HTTP2Mailbox.Completion?
    /// The connection of the call; nil while the call waits for room and after it ended.
    private(set) var connection: HTTP2Connection?
    private(set) var streamID: Int32 = 0
    /// The bytes of the body that nghttp2 has taken.
    var bodySentByteCount = 0
    /// Offset in the connection's output from which on the server may hold a complete request: the start of the body, or of the
    /// head where there is no body. Nil until nghttp2 asks for those bytes.
    var criticalOffset: UInt64?
    private var head = ResponseHead()
    private var responseBody: [UInt8] = []

    var isEnded: Bool { completion == nil }
    /// Whether the final head of the response was received; an interim head (1xx) does not count.
    var hasFinalHead: Bool { head.isFinal }

    init(_ posted: HTTP2Mailbox.PostedCall, deadline: ContinuousClock.Instant) {
        id = posted.id
        (request, body, isUrgent) = posted.request
        completion = posted.completion
        self.deadline = deadline
    }

    func opened(on connection: HTTP2Connection, streamID: Int32) {
        self.connection = connection
        self.streamID = streamID
    }

    /// Calls the completion, once.
    func end(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        guard let completion else { return }
        self.completion = nil
        connection = nil
        responseBody = []
        completion(result)
    }

    // MARK: Response

    func beginHead() { head.begin() }

    /// Adds a header field; returns false when the fields exceed their limit.
    func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, maxByteCount: Int) -> Bool {
        head.receive(name: name, value: value, maxByteCount: maxByteCount)
    }

    /// Appends bytes of the body; returns false when the body exceeds its limit.
    func receive(body bytes: UnsafeBufferPointer<UInt8>, maxByteCount: Int) -> Bool {
        guard responseBody.count + bytes.count <= maxByteCount else { return false }
        responseBody.append(contentsOf: bytes)
        return true
    }

    /// The response, once it is complete.
    var response: HTTPClientResponse {
        HTTPClientResponse(status: head.status, headers: head.fields, body: responseBody)
    }
}
