import Synchronization

@testable import EventBus

/// Keeps the dead letters of consumers that have no database.
final class RecordingDeadLetters: DeadLetterStore {
    private let state = Mutex<[NewDeadLetter]>([])
    private let consumers = Mutex<[String]>([])
    private let failures: Mutex<[EventBusError]>

    /// - Parameter failures: Thrown by the first calls of ``add(_:of:by:)``, one by each.
    init(failures: [EventBusError] = []) { self.failures = Mutex(failures) }

    var letters: [NewDeadLetter] { state.withLock { $0 } }
    /// The consumers that gave something up.
    var givers: [String] { consumers.withLock { $0 } }

    func add(_ letters: [NewDeadLetter], of group: StreamGroup, by consumer: String) async throws(EventBusError) -> Int {
        if let failure = failures.withLock({ $0.popFirst() }) { throw failure }
        consumers.withLock { $0.append(consumer) }
        return state.withLock { known in
            let fresh = letters.filter { letter in !known.contains { $0.id == letter.id } }
            known += fresh
            return fresh.count
        }
    }

    func deleteOlder(than age: Duration, of group: StreamGroup) async throws(EventBusError) -> Int { 0 }

    func backlog(of group: StreamGroup) async throws(EventBusError) -> DeadLetterBacklog { DeadLetterBacklog() }
}

extension [EventBusError] {
    fileprivate mutating func popFirst() -> EventBusError? { isEmpty ? nil : removeFirst() }
}
