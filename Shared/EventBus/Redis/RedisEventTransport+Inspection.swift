import FoundationEssentials
import RedisClient
import WireFormat

extension RedisEventTransport {
    /// Looks for each message among undelivered and pending entries and in the retries with one script; see ``EventTransport``.
    public func absent(
        _ messages: [PublishedMessage], from group: StreamGroup
    ) async throws(EventBusError) -> [PublishedMessage] {
        guard !messages.isEmpty else { return [] }
        var arguments: [any RedisArgument] = [group.name]
        for message in messages { arguments += [message.entryID, message.id.wireString] as [any RedisArgument] }
        return try await run(
            InspectionScripts.absent, "looking for messages", keys: [key(of: group.stream), retryKeys(of: group)[0]], arguments
        ) { reply in (reply.array ?? []).compactMap(\.integer).map { messages[$0] } }
    }

    /// Reads the status of a group with one script; see ``EventTransport``.
    public func status(of group: StreamGroup) async throws(EventBusError) -> GroupStatus {
        try await run(
            InspectionScripts.status, "asking how a group stands",
            keys: [key(of: group.stream), retryKeys(of: group)[0], pulseKeys(of: group)[1]],
            [group.name, GroupStatus.maxUndelivered, GroupStatus.heartbeatAge.wholeMilliseconds]
        ) { reply throws(RedisError) in
            guard let parts = reply.array, parts.count == 9, let now = parts[0].integer else {
                throw RedisError(.unexpectedReply, "the status script gave \(reply.kind)")
            }
            func age(_ part: RedisReply) -> Duration? {
                EntryID(part).map { .milliseconds(max(0, now - Int($0.milliseconds))) }
            }
            var status = GroupStatus()
            status.length = parts[1].integer ?? 0
            status.undelivered = parts[2].integer ?? 0
            status.oldestUndeliveredAge = age(parts[3])
            status.pending = parts[4].integer ?? 0
            status.oldestPendingAge = age(parts[5])
            status.retrying = parts[6].integer ?? 0
            status.appended = parts[7].integer ?? 0
            let consumers = parts[8].array ?? []
            status.consumers = stride(from: 0, to: consumers.count - 2, by: 3).map { index in
                GroupStatus.Consumer(
                    name: consumers[index].string ?? "", pending: consumers[index + 1].integer ?? 0,
                    idle: .milliseconds(consumers[index + 2].integer ?? 0))
            }
            return status
        }
    }
}
