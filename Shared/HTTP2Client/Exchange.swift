internal import HTTPClient

/// A call on its way: the request, as far as it has gone, and the answer, as far as it has come.
///
/// Confined to the client's thread. What nghttp2 still reads of an ended one, the request's fields, it keeps until its
/// connection lets go of it.
final class Exchange {
    let id: UInt64
    let request: HTTP2Request
    let body: [UInt8]
    let deadline: ContinuousClock.Instant
    /// Whom to tell; nil once that was done.
    private var completion: HTTP2Mailbox.Completion?
    /// Where it is; nil while it waits for room, and when it is ended.
    private(set) var connection: HTTP2Connection?
    private(set) var streamID: Int32 = 0
    /// How much of the body nghttp2 has taken.
    var bodySentByteCount = 0
    /// Where in the connection's output the first bytes begin without which the server has no request to act on: those of
    /// the body, or of the head where there is no body. Nil while nghttp2 has not asked for them.
    var criticalOffset: UInt64?
    private var head = ResponseHead()
    private var responseBody: [UInt8] = []

    var isEnded: Bool { completion == nil }
    /// Whether the head of the answer is there, and not one that only announces it (1xx).
    var hasFinalHead: Bool { head.isFinal }

    init(_ call: HTTP2Mailbox.Call, deadline: ContinuousClock.Instant) {
        id = call.id
        request = call.request
        body = call.body
        completion = call.completion
        self.deadline = deadline
    }

    func opened(on connection: HTTP2Connection, streamID: Int32) {
        self.connection = connection
        self.streamID = streamID
    }

    /// Tells the caller the outcome, once.
    func end(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        guard let completion else { return }
        self.completion = nil
        connection = nil
        responseBody = []
        completion(result)
    }

    // MARK: The answer

    func beginHead() { head.begin() }

    /// Takes a header field; returns false when the fields grow over their limit.
    func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, byteCountMax: Int) -> Bool {
        head.receive(name: name, value: value, byteCountMax: byteCountMax)
    }

    /// Takes a piece of the body; returns false when it grows over its limit.
    func receive(body bytes: UnsafeBufferPointer<UInt8>, byteCountMax: Int) -> Bool {
        guard responseBody.count + bytes.count <= byteCountMax else { return false }
        responseBody.append(contentsOf: bytes)
        return true
    }

    /// The answer, when all of it has come.
    var response: HTTPClientResponse {
        HTTPClientResponse(status: head.status, headers: head.fields, body: responseBody)
    }
}
