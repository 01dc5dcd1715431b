internal import Synchronization

/// A transfer that holds a slot of a ``TransferQuota``, with the number of its bytes.
final class CountedTransfer: Sendable {
    /// The site of the client; see ``IPAddress/site``.
    let site: IPAddress
    /// The number of bytes that its client has announced; 0 for a response.
    private let size: Int
    fileprivate let number: UInt64
    fileprivate let displace: @Sendable () -> Void
    private let bytes = Atomic<Int>(0)

    fileprivate init(site: IPAddress, size: Int, number: UInt64, displace: @escaping @Sendable () -> Void) {
        (self.site, self.size, self.number, self.displace) = (site, size, number, displace)
    }

    /// Counts bytes that were transferred.
    func add(_ byteCount: Int) { bytes.wrappingAdd(byteCount, ordering: .relaxed) }

    /// The order in which the transfers of a site are displaced: the one with the fewest bytes first, and of equal ones the oldest.
    fileprivate var precedence: (Int, UInt64) { (bytes.load(ordering: .relaxed), number) }

    /// The number of bytes that are still to come.
    fileprivate var missing: Int { max(0, size - bytes.load(ordering: .relaxed)) }
}

/// Limits the number of concurrent transfers, and shares them between sites.
///
/// A transfer costs its client next to nothing: a head without a body holds a slot for the patience of the ``ConnectionGuard``. So the
/// transfer of a site with fewer slots displaces one of the site with the most when all are taken. When no site has more than others, a
/// small upload displaces the one that still misses the most bytes, if these are much more: strangers with an address each may send as many
/// large ones as there are slots.
final class TransferQuota: Sendable {
    /// The result of an attempt to take a slot.
    enum Outcome {
        case taken(CountedTransfer)
        /// The site holds its share.
        case shareExhausted
        /// No slot is left, no site holds more than one more than this one, and no upload misses much more than this one.
        case exhausted
    }

    private struct State {
        var bySite: [IPAddress: [UInt64: CountedTransfer]] = [:]
        /// Transfers that hold a slot, without those that were displaced.
        var count = 0
        /// Transfers that were displaced and have not ended.
        var leaving = 0
        var nextNumber: UInt64 = 0
    }

    /// The least ratio of the bytes that a displaced upload still misses to those of the upload that displaces it.
    private static let muchMore = 4
    /// The size as which each smaller upload counts: about that of a sign-in. An upload that misses less than four times as much is not
    /// displaced by any other, however few bytes that one announces.
    private static let leastSize = 1_048_576

    private let perSite: Int
    private let total: Int
    private let state = Mutex(State())

    /// Creates a quota.
    ///
    /// - Parameters:
    ///   - perSite: The most slots of a site. It never holds more than half of the slots that other sites leave, and at least one.
    ///   - total: The number of slots. Displaced transfers may exceed it by an eighth until they have ended.
    init(perSite: Int, total: Int) {
        (self.perSite, self.total) = (perSite, total)
    }

    /// Takes a slot for a client, without waiting: a waiting client would hold a connection.
    ///
    /// - Parameters:
    ///   - size: The number of bytes that the client has announced, or the most that it may send; 0 for a response, which is not displaced
    ///     for its size.
    ///   - displace: Called when another transfer takes the slot; it must end this transfer soon. ``end(_:)`` is due all the same.
    func take(_ client: IPAddress, size: Int, displace: @escaping @Sendable () -> Void) -> Outcome {
        let (outcome, displaced) = state.withLock { state -> (Outcome, CountedTransfer?) in
            let own = state.bySite[client.site]?.count ?? 0
            let left = total - (state.count - own)
            let displaced = state.count >= total ? displaceable(by: own, size: size, in: state) : nil
            if state.count >= total, displaced == nil { return (.exhausted, nil) }
            guard own < min(perSite, max(1, left / 2)) else { return (.shareExhausted, nil) }
            if let displaced, Self.remove(displaced, from: &state) { state.leaving += 1 }
            state.nextNumber += 1
            let transfer = CountedTransfer(site: client.site, size: size, number: state.nextNumber, displace: displace)
            state.bySite[client.site, default: [:]][transfer.number] = transfer
            state.count += 1
            return (.taken(transfer), displaced)
        }
        displaced?.displace()
        return outcome
    }

    /// The transfer that makes room for one of a site with `own` slots.
    private func displaceable(by own: Int, size: Int, in state: State) -> CountedTransfer? {
        guard state.leaving < max(1, total / 8), let most = state.bySite.values.max(by: { $0.count < $1.count }) else { return nil }
        if most.count > own + 1 { return most.values.min { $0.precedence < $1.precedence } }
        let largest = state.bySite.values.lazy.flatMap(\.values).max { $0.missing < $1.missing }
        return largest.flatMap { $0.missing / Self.muchMore >= max(size, Self.leastSize) ? $0 : nil }
    }

    /// Returns the slot of a transfer that has ended.
    func end(_ transfer: CountedTransfer) {
        state.withLock { state in
            if !Self.remove(transfer, from: &state) { state.leaving -= 1 }
        }
    }

    @discardableResult
    private static func remove(_ transfer: CountedTransfer, from state: inout State) -> Bool {
        guard state.bySite[transfer.site]?.removeValue(forKey: transfer.number) != nil else { return false }
        if state.bySite[transfer.site]?.isEmpty == true { state.bySite[transfer.site] = nil }
        state.count -= 1
        return true
    }
}
