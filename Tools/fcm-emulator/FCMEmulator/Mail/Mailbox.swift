import AsyncPrimitives
import FoundationEssentials
import Synchronization

/// The accepted mails, newest last, and the requests that wait for more.
final class Mailbox: Sendable {
    private struct State {
        var mails: Ring<ReceivedMail>
        var signals: [ObjectIdentifier: AsyncSignal] = [:]
        var isClosed = false
    }

    private let limits: FCMEmulatorLimits
    private let state: Mutex<State>
    /// Tells the page of a mail; nil: all were removed.
    private let tell: @Sendable (ReceivedMail?) -> Void

    init(limits: FCMEmulatorLimits, tell: @escaping @Sendable (ReceivedMail?) -> Void) {
        self.limits = limits
        self.tell = tell
        state = Mutex(State(mails: Ring(capacity: limits.mails)))
    }

    /// Adds a mail, gives it its number, and wakes the requests that wait.
    func append(_ mail: SMTPMail, at time: Date) {
        var received = ReceivedMail(mail, receivedAt: time)
        let signals = state.withLock { state in
            received.number = state.mails.end
            state.mails.append(received)
            return Array(state.signals.values)
        }
        for signal in signals { signal.signal() }
        tell(received)
    }

    func clear() {
        state.withLock { $0.mails.removeAll() }
        tell(nil)
    }

    /// Ends every wait, and refuses later ones.
    func close() {
        let signals = state.withLock { state in
            state.isClosed = true
            return Array(state.signals.values)
        }
        for signal in signals { signal.signal() }
    }

    /// All mails that are kept, oldest first.
    var all: [ReceivedMail] { state.withLock { Array($0.mails.suffix()) } }

    /// Number of requests that wait.
    var waiterCount: Int { state.withLock { $0.signals.count } }

    /// Returns the mails to an address (nil: all) from a number on, once there are `count` of them or the time is over, and the number to
    /// continue with. For a number in the future it begins with the next mail.
    func mails(
        to address: String?, from number: Int = 0, atLeast count: Int, within patience: Duration
    ) async -> (mails: [ReceivedMail], next: Int) {
        let deadline = ContinuousClock.now + min(patience, .seconds(limits.waitSeconds))
        let number = min(number, state.withLock { $0.mails.end })
        let signal = AsyncSignal()
        defer { state.withLock { _ = $0.signals.removeValue(forKey: ObjectIdentifier(signal)) } }
        while true {
            let (found, next, mayWait) = state.withLock { state in
                let found = state.mails.suffix(from: number).filter { $0.isTo(address) }
                let isKnown = state.signals[ObjectIdentifier(signal)] != nil
                let mayWait = found.count < count && !state.isClosed && (isKnown || state.signals.count < limits.waiters)
                if mayWait { state.signals[ObjectIdentifier(signal)] = signal }
                return (Array(found), state.mails.end, mayWait)
            }
            guard mayWait, deadline > .now, !Task.isCancelled else { return (found, next) }
            await signal.wait(upTo: deadline - .now)
        }
    }
}
