/// Holds the open calls of a client and ends each exactly once. Confined to the client's thread.
final class CallRegistry {
    private let mailbox: HTTP2Mailbox
    private(set) var calls = CallList()
    /// The number of calls ended in this iteration of the loop.
    private(set) var endedInIteration = 0

    init(mailbox: HTTP2Mailbox) {
        self.mailbox = mailbox
    }

    func add(_ posted: HTTP2Mailbox.PostedCall, deadline: ContinuousClock.Instant) -> Call {
        let call = Call(posted, deadline: deadline)
        calls.append(call)
        return call
    }

    /// Ends a call with a result, unless it has ended already.
    func end(_ call: Call, _ result: Result<HTTPClientResponse, HTTPClientError>) {
        guard !call.isEnded else { return }
        endedInIteration += 1
        // Before the completion runs, because it may start the next call at once.
        mailbox.callEnded()
        call.end(result)
        calls.recordEnd()
    }

    /// Resets the count of ended calls.
    func beginIteration() { endedInIteration = 0 }
}
