import RedisClient

extension RedisEventTransport {
    /// Claims entries with one script, which also records from which consumers it took them; see ``EventTransport``.
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

    /// Appends due retries from the group's sorted set to the stream with one script; see ``EventTransport``.
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

    /// Deletes what all groups have settled with one script; see ``EventTransport``.
    public func trim(_ stream: String, ungroupedAge age: Duration?) async throws(EventBusError) -> Int {
        try await run(
            MaintenanceScripts.trim, "trimming", keys: [key(of: stream)], [age?.wholeMilliseconds ?? -1], { $0.integer ?? 0 })
    }

    /// Deletes a consumer without pending entries, its heartbeat and the count of claims from it with one script; see ``EventTransport``.
    public func retire(_ consumer: GroupConsumer) async throws(EventBusError) -> Bool {
        try await run(
            MaintenanceScripts.retire, "retiring a consumer",
            keys: [key(of: consumer.group.stream), lossKey(of: consumer.group), pulseKeys(of: consumer.group)[1]],
            [consumer.group.name, consumer.name], { $0.integer == 1 })
    }

    /// Deletes idle consumers without pending entries with one script; see ``EventTransport``.
    public func retireIdle(of group: StreamGroup, idle: Duration) async throws(EventBusError) -> Int {
        try await run(
            MaintenanceScripts.retireIdle, "retiring idle consumers",
            keys: [key(of: group.stream), lossKey(of: group), pulseKeys(of: group)[1]],
            [group.name, idle.wholeMilliseconds], { $0.integer ?? 0 })
    }
}
