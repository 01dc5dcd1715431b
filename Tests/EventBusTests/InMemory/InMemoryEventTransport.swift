import AsyncPrimitives
import FoundationEssentials
import Synchronization
import WireFormat

@testable import EventBus

/// A transport within one process, for tests of code that uses the bus.
final class InMemoryEventTransport: EventTransport {
    private struct State {
        var streams: [String: InMemoryStream] = [:]
        var signals: [ObjectIdentifier: AsyncSignal] = [:]
    }

    /// A call whose order matters to other consumers.
    enum Call: Equatable { case openLifeline, beat, openReader }

    private let state = Mutex(State())
    private let recorded = Mutex<[Call]>([])

    /// The calls so far, in their order.
    var calls: [Call] { recorded.withLock(\.self) }

    /// Makes a transport without any stream.
    init() {}

    func createGroup(_ group: String, on stream: String) async throws(EventBusError) {
        state.withLock { $0.streams[stream, default: InMemoryStream()].createGroup(group) }
    }

    func append(
        _ entries: [OutgoingEntry]
    ) async throws(EventBusError) -> [Result<EntryID, EventBusError>] {
        let now = Self.milliseconds
        let (ids, signals) = state.withLock { state in
            let ids = entries.map { entry in
                state.streams[entry.stream, default: InMemoryStream()].append(entry.fields, milliseconds: now)
            }
            return (ids, Array(state.signals.values))
        }
        for signal in signals { signal.signal() }
        return ids.map { .success($0) }
    }

    func openReader(_ consumer: GroupConsumer) async throws(EventBusError) -> any GroupReader {
        recorded.withLock { $0.append(.openReader) }
        return InMemoryGroupReader(transport: self, consumer: consumer)
    }

    func openTail(stream: String) async throws(EventBusError) -> any TailReader {
        let last = state.withLock { $0.streams[stream]?.lastID ?? .zero }
        return InMemoryTailReader(transport: self, stream: stream, after: last)
    }

    func claim(
        _ request: ClaimRequest, for consumer: GroupConsumer
    ) async throws(EventBusError) -> ClaimedEntries {
        try change(consumer.group.stream) { stream throws(EventBusError) in
            try stream.claim(request, consumer, now: .now)
        }
    }

    func openLifeline(_ consumer: GroupConsumer) async throws(EventBusError) -> any Lifeline {
        recorded.withLock { $0.append(.openLifeline) }
        _ = changeGroup(consumer.group) { $0.lifelines[consumer.name, default: 0] += 1 }
        return InMemoryLifeline(transport: self, consumer: consumer)
    }

    func beat(_ limits: HeartbeatLimits, by consumer: GroupConsumer) async throws(EventBusError) -> HeartbeatAnswer {
        recorded.withLock { $0.append(.beat) }
        return try change(consumer.group.stream) { stream throws(EventBusError) in try stream.beat(limits, consumer, now: .now) }
    }

    func resumeRetries(of group: StreamGroup, limit: Int) async throws(EventBusError) -> ResumedRetries {
        let taken = state.withLock { $0.streams[group.stream]?.groups[group.name]?.takeDue(limit, now: .now) }
        guard let taken else { return ResumedRetries(count: 0, nextIn: nil) }
        _ = try await append(taken.due.map { OutgoingEntry(stream: group.stream, fields: $0) })
        return ResumedRetries(count: taken.due.count, nextIn: taken.nextIn)
    }

    func trim(_ stream: String, ungroupedAge age: Duration?) async throws(EventBusError) -> Int {
        let before = age.map { Self.milliseconds - UInt64($0.wholeMilliseconds) }
        return state.withLock { $0.streams[stream]?.trim(ungroupedBefore: before) ?? 0 }
    }

    func retire(_ consumer: GroupConsumer) async throws(EventBusError) -> Bool {
        changeGroup(consumer.group) { group in
            guard !group.pending.values.contains(where: { $0.consumer == consumer.name }) else { return false }
            return group.consumers.removeValue(forKey: consumer.name) != nil
        } ?? false
    }

    func retireIdle(of group: StreamGroup, idle: Duration) async throws(EventBusError) -> Int {
        changeGroup(group) { $0.retireIdle(idle, now: .now) } ?? 0
    }

    /// Deletes a group, as an operator or a flushed server does.
    func destroyGroup(_ group: StreamGroup) {
        state.withLock { $0.streams[group.stream]?.groups[group.name] = nil }
    }

    func addSignal(_ signal: AsyncSignal) {
        state.withLock { $0.signals[ObjectIdentifier(signal)] = signal }
    }

    func removeSignal(_ signal: AsyncSignal) {
        state.withLock { _ = $0.signals.removeValue(forKey: ObjectIdentifier(signal)) }
    }

    func change<Value: Sendable>(
        _ name: String, _ body: (inout InMemoryStream) throws(EventBusError) -> Value
    ) throws(EventBusError) -> Value {
        try state.withLock { state throws(EventBusError) in
            try body(&state.streams[name, default: InMemoryStream()])
        }
    }

    func changeGroup<Value: Sendable>(_ group: StreamGroup, _ body: (inout InMemoryGroup) -> Value) -> Value? {
        state.withLock { state in
            guard var value = state.streams[group.stream]?.groups[group.name] else { return nil }
            let result = body(&value)
            state.streams[group.stream]?.groups[group.name] = value
            return result
        }
    }

    func stream(_ name: String) -> InMemoryStream? { state.withLock { $0.streams[name] } }

    static var milliseconds: UInt64 { UInt64(max(0, Date().millisecondsSince1970)) }
}

/// A lifeline within one process.
private struct InMemoryLifeline: Lifeline {
    let transport: InMemoryEventTransport
    let consumer: GroupConsumer

    func close() async {
        // A group that was lost since has none.
        _ = transport.changeGroup(consumer.group) { group in
            group.lifelines[consumer.name] = max(0, group.lifelines[consumer.name, default: 0] - 1)
        }
    }
}
