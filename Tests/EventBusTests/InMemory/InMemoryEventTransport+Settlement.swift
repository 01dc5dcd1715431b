import FoundationEssentials
import WireFormat

@testable import EventBus

extension InMemoryEventTransport {
    func acknowledge(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        try settle(ids, consumer) { group, id in group.pending[id] = nil }
    }

    func retry(_ retries: [DelayedRetry], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        let byID = Dictionary(retries.map { ($0.id, $0) }) { first, _ in first }
        let now = ContinuousClock.now
        return try change(consumer.group.stream) { stream throws(EventBusError) in
            let before = stream
            return stream.settle(retries.map(\.id), consumer) { group, id in
                guard let retry = byID[id] else { return }
                var fields = before.fields(of: id).filter { $0.name != RetryField.failures && $0.name != RetryField.groups }
                let message = fields.first { $0.name == EncodedEnvelope.Field.id.name }?.value ?? Array("\(id)".utf8)
                let known = group.retries[message].map { DeliveredEntry(id: id, fields: $0.fields, deliveryCount: 1).failures }
                fields.append((RetryField.failures, Array("\(max(retry.failures, known ?? 0))".utf8)))
                fields.append((RetryField.groups, Array(consumer.group.name.utf8)))
                group.retries[message] = .init(fields: fields, dueAt: now + retry.delay)
                group.pending[id] = nil
            }
        }
    }

    func release(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        try settle(ids, consumer) { group, id in group.release(id, now: .now) }
    }

    func keep(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        let gone = try settle(ids, consumer) { group, id in group.pending[id]?.deliveredAt = .now }
        return try change(consumer.group.stream) { stream in
            gone.filter { stream.groups[consumer.group.name]?.pending[$0] != nil }
        }
    }

    func begin(_ suspects: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        try settle(suspects, consumer) { group, id in
            group.pending[id]?.deliveryCount += 1
            group.pending[id]?.deliveredAt = .now
        }
    }

    private func settle(
        _ ids: [EntryID], _ consumer: GroupConsumer, _ body: (inout InMemoryGroup, EntryID) -> Void
    ) throws(EventBusError) -> [EntryID] {
        try change(consumer.group.stream) { stream throws(EventBusError) in stream.settle(ids, consumer, body) }
    }
}
