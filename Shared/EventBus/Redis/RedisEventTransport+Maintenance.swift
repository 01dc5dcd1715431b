import RedisClient

extension RedisEventTransport {
    public func claim(
        _ request: ClaimRequest, for consumer: GroupConsumer
    ) async throws(EventBusError) -> ClaimedEntries {
        let group = consumer.group
        return try await run(
            MaintenanceScripts.claim, "claiming", keys: [key(of: group.stream), pulseKeys(of: group)[0], lossKey(of: group)],
            [
                group.name, consumer.name, request.minIdle.wholeMilliseconds, request.cursor.streamID.next, request.count,
                request.takesSuspect ? 1 : 0, request.crashBudget, request.maxPulseAge?.wholeMilliseconds ?? -1, GroupConsumer.released,
                request.holder ?? "", request.minCalm.wholeMilliseconds,
            ]
        ) { reply throws(RedisError) in
            guard let parts = reply.array, parts.count == 4, let cursor = EntryID(parts[0]) else {
                throw RedisError(.unexpectedReply, "the claim script gave \(reply.kind)")
            }
            let entries = try RedisStreamBatch.decodeList(parts[1]).first?.entries ?? []
            let counts = (parts[3].array ?? []).map { $0.integer ?? 1 }
            return ClaimedEntries(
                entries: entries.enumerated().map { index, entry in
                    DeliveredEntry(
                        id: EntryID(entry.id), contents: entry.fields, deliveryCount: index < counts.count ? counts[index] : 1)
                },
                cursor: cursor, lost: (parts[2].array ?? []).compactMap { EntryID($0) })
        }
    }

    public func resumeRetries(of group: StreamGroup, limit: Int) async throws(EventBusError) -> ResumedRetries {
        try await run(
            MaintenanceScripts.resumeRetries, "resuming retries", keys: [key(of: group.stream)] + retryKeys(of: group), [limit]
        ) { reply throws(RedisError) in
            guard let parts = reply.array, parts.count == 2, let count = parts[0].integer, let next = parts[1].integer else {
                throw RedisError(.unexpectedReply, "the retry script gave \(reply.kind)")
            }
            return ResumedRetries(count: count, nextIn: next < 0 ? nil : .milliseconds(next))
        }
    }

    public func trim(_ stream: String, ungroupedAge age: Duration?) async throws(EventBusError) -> Int {
        try await run(
            MaintenanceScripts.trim, "trimming", keys: [key(of: stream)], [age?.wholeMilliseconds ?? -1], { $0.integer ?? 0 })
    }

    public func retire(_ consumer: GroupConsumer) async throws(EventBusError) -> Bool {
        try await run(
            MaintenanceScripts.retire, "retiring a consumer",
            keys: [key(of: consumer.group.stream), lossKey(of: consumer.group), pulseKeys(of: consumer.group)[1]],
            [consumer.group.name, consumer.name], { $0.integer == 1 })
    }

    public func retireIdle(of group: StreamGroup, idle: Duration) async throws(EventBusError) -> Int {
        try await run(
            MaintenanceScripts.retireIdle, "retiring idle consumers",
            keys: [key(of: group.stream), lossKey(of: group), pulseKeys(of: group)[1]],
            [group.name, idle.wholeMilliseconds], { $0.integer ?? 0 })
    }
}
