internal import HTTPClient

/// Keeps the calls of a client until they are ended, each exactly once. Confined to the client's thread.
final class CallDesk {
    private let mailbox: HTTP2Mailbox
    private(set) var calls = CallList()
    /// How many calls were ended in this turn.
    private(set) var endedInTurn = 0

    init(mailbox: HTTP2Mailbox) {
        self.mailbox = mailbox
    }

    func add(_ call: HTTP2Mailbox.Call, deadline: ContinuousClock.Instant) -> Exchange {
        let exchange = Exchange(call, deadline: deadline)
        calls.append(exchange)
        return exchange
    }

    /// Tells a caller the outcome of a call, unless that was done.
    func end(_ exchange: Exchange, _ result: Result<HTTPClientResponse, HTTPClientError>) {
        guard !exchange.isEnded else { return }
        endedInTurn += 1
        // Before the caller hears of it: he may start the next one at once.
        mailbox.callEnded()
        exchange.end(result)
        calls.noteEnd()
    }

    /// Begins the next turn.
    func turn() { endedInTurn = 0 }
}
