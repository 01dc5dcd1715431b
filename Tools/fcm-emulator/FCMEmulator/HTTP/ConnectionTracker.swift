package import NIOCore
import Synchronization

/// The open connections that were added to it, so that they can be closed all at once.
package final class ConnectionTracker: Sendable {
    private struct State {
        var open: [ObjectIdentifier: (number: Int, channel: any Channel)] = [:]
        var count = 0
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

    /// Number of open connections.
    package var openCount: Int { state.withLock { $0.open.count } }

    /// Closes all of them without notice to the peers.
    package func closeAll() {
        let open = state.withLock { Array($0.open.values) }
        for connection in open { connection.channel.close(promise: nil) }
    }
}
