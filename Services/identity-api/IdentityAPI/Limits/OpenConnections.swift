internal import DequeModule
internal import Metrics
internal import NIOCore
internal import Synchronization

/// The open connections of clients: limits the connections of one address, and closes one to make room for others when all are taken.
///
/// A connection costs its client nothing, so a few addresses could hold all of them. When no connection is left, one of the sender with the
/// most connections is closed. A sender is an IPv4 address, or a /48 of IPv6, because the owner of a /48 can use 65,536 networks.
final class OpenConnections: Sendable {
    /// The connections of one site. A change takes the same time on average, however many there are.
    private struct Site {
        private var open: [UInt64: OpenConnection] = [:]
        /// The numbers in the order of opening. Those of closed connections are skipped.
        private var opened: Deque<UInt64> = []
        /// The connections that became idle, in this order. Those that are closed or have had a request since are skipped.
        private var idle: Deque<Idle> = []

        private struct Idle {
            let number: UInt64
            let since: UInt64
        }

        var count: Int { open.count }

        mutating func insert(_ connection: OpenConnection) {
            open[connection.number] = connection
            opened.append(connection.number)
            idle.append(Idle(number: connection.number, since: connection.number))
        }

        mutating func becameIdle(_ connection: OpenConnection, since: UInt64) {
            guard open[connection.number] != nil else { return }
            idle.append(Idle(number: connection.number, since: since))
            removeSkipped()
        }

        mutating func remove(_ connection: OpenConnection) -> Bool {
            guard open.removeValue(forKey: connection.number) != nil else { return false }
            removeSkipped()
            return true
        }

        /// Returns the connection to give up: the one that has been idle for longest, the oldest one if all are busy.
        mutating func leastUsed() -> OpenConnection? {
            while let first = idle.popFirst() {
                if let connection = open[first.number], connection.isIdle(since: first.since) { return connection }
            }
            while let first = opened.popFirst() {
                if let connection = open[first] { return connection }
            }
            return nil
        }

        /// Removes what is skipped once it may be more than the rest.
        private mutating func removeSkipped() {
            let most = 2 * open.count + 64
            if opened.count > most { opened.removeAll { open[$0] == nil } }
            if idle.count > most { idle.removeAll { open[$0.number]?.isIdle(since: $0.since) != true } }
        }
    }

    private struct State {
        var bySite: [IPAddress: Site] = [:]
        var count = 0
        var ofSubscriber: [IPAddress: Int] = [:]
    }

    /// Connections beyond the total that the server accepts, so that one of them can take the place of another, or be refused.
    static let surplus = 64

    private let perAddress: Int
    private let total: Int
    private let state = Mutex(State())
    fileprivate let sequence = Atomic<UInt64>(1)

    /// Limits connections.
    ///
    /// - Parameters:
    ///   - perAddress: The most connections of one address (IPv6: /64).
    ///   - total: The most connections in all.
    init(perAddress: Int, total: Int) {
        (self.perAddress, self.total) = (perAddress, total)
    }

    /// Registers a connection until it is closed; when there are too many, another connection is closed, or this one.
    ///
    /// - Returns: nil when the connection must be closed.
    func open(_ channel: any Channel, from address: IPAddress) -> OpenConnection? {
        let connection = OpenConnection(channel, address, self)
        let (isTaken, victim) = state.withLock { state -> (Bool, OpenConnection?) in
            guard state.ofSubscriber[address.subscriber, default: 0] < perAddress else { return (false, nil) }
            var victim: OpenConnection?
            if state.count >= total {
                // Only the key: a copy of the site would be copied again when the site changes.
                guard let most = state.bySite.max(by: { $0.value.count < $1.value.count })?.key, most != address.site else {
                    return (false, nil)
                }
                victim = state.bySite[most]?.leastUsed()
                if let victim { Self.remove(victim, from: &state) }
            }
            state.bySite[address.site, default: Site()].insert(connection)
            state.ofSubscriber[address.subscriber, default: 0] += 1
            state.count += 1
            return (true, victim)
        }
        guard isTaken else {
            Self.closed("refused")
            return nil
        }
        if let victim {
            Self.closed("room")
            victim.channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { Self.remove(connection, from: &$0) } }
        return connection
    }

    fileprivate func becameIdle(_ connection: OpenConnection, since: UInt64) {
        state.withLock { $0.bySite[connection.address.site]?.becameIdle(connection, since: since) }
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.count } }

    private static func remove(_ connection: OpenConnection, from state: inout State) {
        let (site, subscriber) = (connection.address.site, connection.address.subscriber)
        guard state.bySite[site]?.remove(connection) == true else { return }
        if state.bySite[site]?.count == 0 { state.bySite[site] = nil }
        let left = state.ofSubscriber[subscriber, default: 0] - 1
        state.ofSubscriber[subscriber] = left > 0 ? left : nil
        state.count -= 1
    }

    private static func closed(_ reason: String) {
        Counter(label: "http_connections_closed_total", dimensions: [("reason", reason)]).increment()
    }
}

/// A connection of a client, and whether a request is under way on it.
final class OpenConnection: Sendable {
    fileprivate let channel: any Channel
    fileprivate let address: IPAddress
    fileprivate let number: UInt64
    private let table: OpenConnections
    /// The number of the change that made it idle, in the sequence of all changes; `.max` while a request is under way.
    private let idleSince: Atomic<UInt64>

    fileprivate init(_ channel: any Channel, _ address: IPAddress, _ table: OpenConnections) {
        (self.channel, self.address, self.table) = (channel, address, table)
        number = table.sequence.add(1, ordering: .relaxed).newValue
        idleSince = Atomic(number)
    }

    /// A request has begun.
    func began() { idleSince.store(.max, ordering: .relaxed) }

    /// All requests have been answered.
    func ended() {
        let now = table.sequence.add(1, ordering: .relaxed).newValue
        idleSince.store(now, ordering: .relaxed)
        table.becameIdle(self, since: now)
    }

    /// Whether it has had no request since a change that made it idle.
    fileprivate func isIdle(since change: UInt64) -> Bool { idleSince.load(ordering: .relaxed) == change }
}
