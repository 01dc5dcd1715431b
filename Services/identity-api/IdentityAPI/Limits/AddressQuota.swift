internal import Synchronization

/// Limits the number of items that one address may hold at the same time, so that no address holds all of them.
///
/// Its memory is bounded by the number of items: an address without items is removed.
final class AddressQuota: Sendable {
    /// The result of an attempt to take an item.
    enum Outcome: Sendable {
        case taken
        /// The address already holds its share.
        case shareExhausted
        /// No item is left.
        case exhausted
    }

    private struct State {
        var taken = 0
        var held: [IPAddress: Int] = [:]
    }

    private let perAddress: Int
    private let total: Int
    private let state = Mutex(State())

    /// Creates a quota.
    ///
    /// - Parameters:
    ///   - perAddress: The largest number that an address may hold.
    ///   - total: The number of all items. An address may hold half of the items that other addresses leave, and at least one, so that a
    ///     few addresses cannot exhaust them.
    init(perAddress: Int, total: Int = .max) {
        self.perAddress = perAddress
        self.total = total
    }

    /// Takes an item for the subscriber of an address; call ``release(_:)`` when it was taken.
    func take(_ address: IPAddress) -> Outcome {
        state.withLock { state in
            let own = state.held[address.subscriber, default: 0]
            let left = total - (state.taken - own)
            guard state.taken < total else { return .exhausted }
            guard own < min(perAddress, max(1, left / 2)) else { return .shareExhausted }
            state.taken += 1
            state.held[address.subscriber] = own + 1
            return .taken
        }
    }

    /// Returns an item that was taken.
    func release(_ address: IPAddress) {
        state.withLock { state in
            state.taken -= 1
            let left = state.held[address.subscriber, default: 0] - 1
            state.held[address.subscriber] = left > 0 ? left : nil
        }
    }

    /// The number of addresses that hold an item.
    var count: Int { state.withLock { $0.held.count } }
}
