internal import DequeModule
internal import Metrics
internal import NIOCore
internal import Synchronization

/// The open connections of clients: limits the connections of one address, and closes one to make room for others when all are taken.
///
/// A connection costs its client nothing, so a few addresses could hold all of them. When no connection is left, one of the sender with the
/// most connections is closed. A sender is an IPv4 address, or a /48 of IPv6, because the owner of a /48 can use 65,536 networks.
final class OpenConnections: Sendable {
    /// The connections of one site.
    private struct Site {
        private var open: [UInt64: OpenConnection] = [:]
        /// The numbers in the order of opening; those of closed connections are removed when they are most of it.
        private var order: Deque<UInt64> = []

        var count: Int { open.count }

        mutating func insert(_ connection: OpenConnection) {
            open[connection.number] = connection
            order.append(connection.number)
        }

        mutating func remove(_ connection: OpenConnection) -> Bool {
            guard open.removeValue(forKey: connection.number) != nil else { return false }
            while let first = order.first, open[first] == nil { order.removeFirst() }
            if order.count > 2 * open.count + OpenConnections.compared { order.removeAll { open[$0] == nil } }
            return true
        }

        /// The connection to give up: of the ``OpenConnections/compared`` oldest ones, the one that has been idle for longest.
        var leastUsed: OpenConnection? {
            order.lazy.compactMap { open[$0] }.prefix(OpenConnections.compared).min { $0.precedence < $1.precedence }
        }
    }

    private struct State {
        var bySite: [IPAddress: Site] = [:]
        var count = 0
        var ofSubscriber: [IPAddress: Int] = [:]
    }

    /// Connections beyond the total that the server accepts, so that one of them can take the place of another, or be refused.
    static let surplus = 64

    /// The connections that are compared to find one to give up: a bound on the work for each connection of an attack by connections.
    private static let compared = 64

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
                guard let most = state.bySite.max(by: { $0.value.count < $1.value.count }), most.key != address.site else {
                    return (false, nil)
                }
                victim = most.value.leastUsed
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
    func ended() { idleSince.store(table.sequence.add(1, ordering: .relaxed).newValue, ordering: .relaxed) }

    /// The order in which connections are given up: the one that has been idle for longest first, the oldest one if all are busy.
    fileprivate var precedence: (UInt64, UInt64) { (idleSince.load(ordering: .relaxed), number) }
}
