import FoundationEssentials
import Synchronization
public import RedisClient
import WireFormat

/// A transport within one process, for tests of what is built on the bus; it keeps everything until it goes.
public final class InMemoryEventTransport: EventTransport {
    private struct State {
        var streams: [String: InMemoryStream] = [:]
        var bells: [ObjectIdentifier: Bell] = [:]
    }

    private let state = Mutex(State())

    /// Makes a transport without any stream.
    public init() {}

    public func createGroup(_ group: String, on stream: String) async throws(EventBusError) {
        state.withLock { $0.streams[stream, default: InMemoryStream()].createGroup(group) }
    }

    public func append(
        _ entries: [OutgoingEntry]
    ) async throws(EventBusError) -> [Result<EntryID, EventBusError>] {
        let now = UInt64(max(0, Date().millisecondsSince1970))
        let (ids, bells) = state.withLock { state in
            let ids = entries.map { entry in
                state.streams[entry.stream, default: InMemoryStream()].append(entry.fields, milliseconds: now)
            }
            return (ids, Array(state.bells.values))
        }
        for bell in bells { bell.ring() }
        return ids.map { .success($0) }
    }

    public func openReader(
        group: String, consumer: String, stream: String
    ) async throws(EventBusError) -> any GroupReader {
        InMemoryGroupReader(transport: self, group: group, consumer: consumer, stream: stream)
    }

    public func acknowledge(_ ids: [EntryID], group: String, stream: String) async throws(EventBusError) {
        state.withLock { $0.streams[stream]?.acknowledge(ids, group: group) }
    }

    public func claim(
        group: String, consumer: String, stream: String, minIdle: Duration, cursor: EntryID, count: Int
    ) async throws(EventBusError) -> ClaimedEntries {
        try change(stream) { stream throws(EventBusError) in
            try stream.claim(
                group: group, consumer: consumer, minIdle: minIdle, cursor: cursor, count: count, now: .now)
        }
    }

    public func keep(
        _ ids: [EntryID], group: String, consumer: String, stream: String
    ) async throws(EventBusError) -> [EntryID] {
        try change(stream) { stream throws(EventBusError) in
            try stream.keep(ids, group: group, consumer: consumer, now: .now)
        }
    }

    public func retire(consumer: String, group: String, stream: String) async throws(EventBusError) -> Bool {
        state.withLock { $0.streams[stream]?.retire(consumer: consumer, group: group) ?? false }
    }

    public func pendingCount(group: String, stream: String) async throws(EventBusError) -> Int {
        state.withLock { $0.streams[stream]?.pendingCount(group: group) ?? 0 }
    }

    public func absent(
        _ messages: [PublishedMessage], group: String, stream: String
    ) async throws(EventBusError) -> [PublishedMessage] {
        state.withLock { state in
            messages.filter { state.streams[stream]?.isBefore(group: group, $0) != true }
        }
    }

    public func openTail(streams: [String]) async throws(EventBusError) -> any TailReader {
        let positions = state.withLock { state in
            streams.map { ($0, state.streams[$0]?.lastID ?? .zero) }
        }
        return InMemoryTailReader(transport: self, positions: positions)
    }

    /// Forgets a group, as an operator or a flushed server would.
    func destroyGroup(_ group: String, on stream: String) {
        state.withLock { $0.streams[stream]?.destroyGroup(group) }
    }

    func consumers(group: String, stream: String) -> Set<String> {
        state.withLock { $0.streams[stream]?.consumers(group: group) ?? [] }
    }

    func addBell(_ bell: Bell) {
        state.withLock { $0.bells[ObjectIdentifier(bell)] = bell }
    }

    func removeBell(_ bell: Bell) {
        state.withLock { _ = $0.bells.removeValue(forKey: ObjectIdentifier(bell)) }
    }

    func change<Value: Sendable>(
        _ name: String, _ body: (inout InMemoryStream) throws(EventBusError) -> Value
    ) throws(EventBusError) -> Value {
        try state.withLock { state throws(EventBusError) in
            try body(&state.streams[name, default: InMemoryStream()])
        }
    }
}
