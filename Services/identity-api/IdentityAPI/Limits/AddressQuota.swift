internal import Synchronization

/// Counts what each address holds at the moment, so that none holds everything.
///
/// As many addresses are known as hold something, which is bounded by how much there is to hold.
final class AddressQuota: Sendable {
    private let limit: Int
    private let held = Mutex<[IPAddress: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// Takes one for the address's subscriber; false when that has its share.
    func take(_ address: IPAddress) -> Bool {
        held.withLock { held in
            guard held[address.subscriber, default: 0] < limit else { return false }
            held[address.subscriber, default: 0] += 1
            return true
        }
    }

    /// Gives one back that was taken.
    func release(_ address: IPAddress) {
        held.withLock { held in
            let left = held[address.subscriber, default: 0] - 1
            held[address.subscriber] = left > 0 ? left : nil
        }
    }

    /// How many addresses hold something.
    var count: Int { held.withLock { $0.count } }
}
