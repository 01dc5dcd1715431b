package import NIOCore
import Synchronization

/// The open connections that were added to it, so that they can be closed all at once.
package final class ConnectionTracker: Sendable {
    /// Counts since the start.
    struct Counts {
        /// Connections of HTTP/2 that were opened.
        var http2 = 0
        /// Connections on which GOAWAY was sent.
        var goAways = 0
    }

    private struct State {
        var open: [ObjectIdentifier: (number: Int, channel: any Channel)] = [:]
        var count = 0
        var counts = Counts()
    }

    private let state = Mutex(State())

    /// Creates a tracker without connections.
    package init() {}

    /// Adds a connection until it closes, and returns its number, counted from 1; a known connection keeps its number.
    @discardableResult
    package func add(_ connection: any Channel) -> Int {
        let id = ObjectIdentifier(connection)
        let (number, isNew) = state.withLock { state in
            if let known = state.open[id] { return (known.number, false) }
            state.count += 1
            state.open[id] = (state.count, connection)
            return (state.count, true)
        }
        if isNew {
            connection.closeFuture.whenComplete { [weak self] _ in
                self?.state.withLock { _ = $0.open.removeValue(forKey: id) }
            }
        }
        return number
    }

    /// Number of connections that were ever added.
    var addedCount: Int { state.withLock { $0.count } }

    /// Number of open connections.
    package var openCount: Int { state.withLock { $0.open.count } }

    var counts: Counts { state.withLock { $0.counts } }

    func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }

    /// Closes all connections without notice to the peers.
    package func closeAll() { for channel in channels { channel.close(promise: nil) } }

    /// Closes all connections, and returns once they are closed.
    func closeAllAndWait() async {
        let channels = channels
        closeAll()
        for channel in channels { try? await channel.closeFuture.get() }
    }

    private var channels: [any Channel] { state.withLock { $0.open.values.map(\.channel) } }
}
