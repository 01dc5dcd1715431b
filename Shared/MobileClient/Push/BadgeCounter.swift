public import Foundation

/// The number on the app's icon: the person's unread items, as the API counts them.
public final class BadgeCounter: Sendable {
    private let runner: SynchronousRunner<BadgeReducer>

    /// - Parameter show: Sets the number on the icon; it must return soon, and is called in the order of the numbers.
    init(show: @escaping @Sendable (Int) -> Void) {
        runner = SynchronousRunner(BadgeReducer.State()) { effect, _ in
            switch effect {
            case .show(let count): show(count)
            }
            return []
        }
    }

    /// The number that the icon shows; nil before the first one is known.
    public var count: Int? { runner.state.count }

    /// Takes the count of a push; returns whether it is not older than the known count.
    @discardableResult
    func received(_ message: PushMessage) -> Bool {
        guard let badge = message.badge else { return true }
        let at = message.payload.messageID.flatMap(Self.time)
        let isOlder = BadgeReducer.isOlder(at, .push, than: runner.state)
        runner.send(.counted(badge, at: at, .push))
        return !isOlder
    }

    /// Takes the count of an answer, as of `POST /v1/topics/{topic}/read`.
    ///
    /// - Parameters:
    ///   - count: The number for the icon; a negative one has no effect.
    ///   - at: The time of the answer by the API's clock (`meta.timestamp`); nil if the answer has no time.
    public func answered(_ count: Int, at: Date?) {
        guard count >= 0 else { return }
        let milliseconds = at.flatMap { Int(exactly: ($0.timeIntervalSince1970 * 1_000).rounded()) }
        runner.send(.counted(count, at: milliseconds, .answer))
    }

    /// Clears the icon.
    func signedOut() { runner.send(.signedOut) }

    /// The time at which FCM took a message, in milliseconds since 1970: its ids are the microseconds, also as `0:<microseconds>%<hash>`.
    ///
    /// Nil for an id of another form: FCM does not document the form, and the order of such counts is unknown.
    static func time(of messageID: String) -> Int? {
        let number = (messageID.split(separator: ":").last ?? "").prefix { $0 != "%" }
        let isNumber = number.utf8.allSatisfy { (48...57).contains($0) }
        guard number.utf8.count == 16, isNumber, let microseconds = Int(number) else { return nil }
        // From 2015 to 2100.
        return (1_420_000_000_000_000...4_102_444_800_000_000).contains(microseconds) ? microseconds / 1_000 : nil
    }
}
