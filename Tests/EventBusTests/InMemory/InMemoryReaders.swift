import AsyncPrimitives
import Synchronization
import WireFormat

@testable import EventBus

/// Reads entries for one consumer of a group.
final class InMemoryGroupReader: GroupReader {
    private let transport: InMemoryEventTransport
    private let consumer: GroupConsumer
    private let signal = AsyncSignal()
    private let isInterrupted = Atomic(false)

    init(transport: InMemoryEventTransport, consumer: GroupConsumer) {
        self.transport = transport
        self.consumer = consumer
        transport.addSignal(signal)
    }

    func read(
        count: Int, wait: Duration, acknowledging: [EntryID]
    ) async throws(EventBusError) -> ReadEntries {
        let deadline = ContinuousClock.now + wait
        let gone = try await transport.acknowledge(acknowledging, by: consumer)
        while true {
            if Task.isCancelled { throw EventBusError(.cancelled, "the task was cancelled") }
            let entries = try transport.change(consumer.group.stream) { stream throws(EventBusError) in
                try stream.read(consumer, count: count, now: .now)
            }
            let left = deadline - .now
            if !entries.isEmpty || left <= .zero || isInterrupted.exchange(false, ordering: .relaxed) {
                return ReadEntries(entries: entries, gone: gone)
            }
            await signal.wait(upTo: left)
        }
    }

    func interrupt() async {
        isInterrupted.store(true, ordering: .relaxed)
        signal.signal()
    }

    func close() async {
        transport.removeSignal(signal)
    }
}

/// Reads the entries of a stream that are appended after the reader was made.
final class InMemoryTailReader: TailReader {
    private let transport: InMemoryEventTransport
    private let stream: String
    private let position: Mutex<EntryID>
    private let signal = AsyncSignal()
    private let isInterrupted = Atomic(false)

    init(transport: InMemoryEventTransport, stream: String, after position: EntryID) {
        self.transport = transport
        self.stream = stream
        self.position = Mutex(position)
        transport.addSignal(signal)
    }

    func read(count: Int, wait: Duration) async throws(EventBusError) -> [TailEntry] {
        let deadline = ContinuousClock.now + wait
        while true {
            if Task.isCancelled { throw EventBusError(.cancelled, "the task was cancelled") }
            let entries = try take(count)
            let left = deadline - .now
            if !entries.isEmpty || left <= .zero || isInterrupted.exchange(false, ordering: .relaxed) { return entries }
            await signal.wait(upTo: left)
        }
    }

    private func take(_ count: Int) throws(EventBusError) -> [TailEntry] {
        try position.withLock { position throws(EventBusError) in
            let after = position
            let fresh = try transport.change(stream) { stream throws(EventBusError) in
                stream.entries(after: after, count: count)
            }
            position = fresh.last?.id ?? after
            return fresh.map { TailEntry(stream: stream, id: $0.id, contents: StreamFieldList($0.fields)) }
        }
    }

    func interrupt() async {
        isInterrupted.store(true, ordering: .relaxed)
        signal.signal()
    }

    func close() async {
        transport.removeSignal(signal)
    }
}
