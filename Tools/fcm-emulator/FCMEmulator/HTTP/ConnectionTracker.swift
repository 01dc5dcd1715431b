package import NIOCore
import Synchronization

/// The connections that have carried a request, so that they can be cut all at once.
package final class ConnectionTracker: Sendable {
    private struct State {
        var open: [ObjectIdentifier: (number: Int, channel: any Channel)] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Begins with none.
    package init() {}

    /// Remembers a connection until it closes, and says its number: they are counted from 1.
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

    /// How many are open.
    package var openCount: Int { state.withLock { $0.open.count } }

    /// Closes all of them, without a word to the other side.
    package func closeAll() {
        let open = state.withLock { Array($0.open.values) }
        for connection in open { connection.channel.close(promise: nil) }
    }
}
