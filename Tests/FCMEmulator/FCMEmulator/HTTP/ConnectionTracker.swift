package import NIOCore
import Synchronization

/// The connections that have carried a request, so that they can be cut all at once.
package final class ConnectionTracker: Sendable {
    private let connections = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// Begins with none.
    package init() {}

    /// Remembers a connection until it closes.
    package func add(_ connection: any Channel) {
        let id = ObjectIdentifier(connection)
        let isNew = connections.withLock { $0.updateValue(connection, forKey: id) == nil }
        guard isNew else { return }
        connection.closeFuture.whenComplete { [weak self] _ in
            self?.connections.withLock { _ = $0.removeValue(forKey: id) }
        }
    }

    /// Closes all of them, without a word to the other side.
    package func closeAll() {
        let open = connections.withLock { Array($0.values) }
        for connection in open { connection.close(promise: nil) }
    }
}
