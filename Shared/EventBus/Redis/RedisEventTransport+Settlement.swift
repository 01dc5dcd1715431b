import RedisClient

extension RedisEventTransport {
    /// Acknowledges the entries that are pending for the consumer with one script; sends nothing for an empty list.
    public func acknowledge(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        guard !ids.isEmpty else { return [] }
        return try await settle(
            SettlementScripts.acknowledge, "acknowledging", consumer, Self.arguments(ids.sorted()),
            keys: [lossKey(of: consumer.group)])
    }

    /// Acknowledges entries and stores their messages in the group's retries with one script; sends nothing for an empty list.
    public func retry(_ retries: [DelayedRetry], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        guard !retries.isEmpty else { return [] }
        let arguments = retries.flatMap { retry -> [any RedisArgument] in
            [retry.id, retry.failures, retry.delay.wholeMilliseconds]
        }
        return try await settle(
            SettlementScripts.retry, "setting aside for a retry", consumer, arguments, keys: retryKeys(of: consumer.group))
    }

    /// Makes entries pending under the name of released ones with one script; sends nothing for an empty list.
    public func release(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        guard !ids.isEmpty else { return [] }
        return try await settle(
            SettlementScripts.release, "releasing", consumer, [GroupConsumer.released] + Self.arguments(ids))
    }

    /// Resets the idle time of the consumer's entries with one script; sends nothing for an empty list.
    public func keep(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        guard !ids.isEmpty else { return [] }
        return try await settle(SettlementScripts.keep, "keeping entries", consumer, Self.arguments(ids))
    }

    /// Raises the delivery count of the consumer's suspects by one with one script; sends nothing for an empty list.
    public func begin(_ suspects: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID] {
        guard !suspects.isEmpty else { return [] }
        return try await settle(SettlementScripts.begin, "beginning suspects", consumer, Self.arguments(suspects))
    }

    private static func arguments(_ ids: [EntryID]) -> [any RedisArgument] { ids as [any RedisArgument] }

    /// Runs a settlement script and returns the entries that the consumer does not hold.
    func settle(
        _ script: RedisScript, _ doing: String, _ consumer: GroupConsumer, _ arguments: [any RedisArgument],
        keys: [String] = []
    ) async throws(EventBusError) -> [EntryID] {
        let owner: [any RedisArgument] = [consumer.group.name, consumer.name]
        return try await run(script, doing, keys: [key(of: consumer.group.stream)] + keys, owner + arguments) { reply in
            (reply.array ?? []).compactMap { EntryID($0) }
        }
    }
}
