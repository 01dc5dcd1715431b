import RedisClient

extension RedisEventTransport {
    /// Subscribes a connection of its own to the channel of the consumer; the server counts a channel's subscribers.
    public func openLifeline(_ consumer: GroupConsumer) async throws(EventBusError) -> any Lifeline {
        try await attempt("opening a lifeline") { () async throws(RedisError) in
            let connection = try await client.dedicatedConnection(for: key(of: consumer.group.stream))
            do throws(RedisError) {
                // A channel of a shard, so that on a cluster the server with the stream has it.
                _ = try await connection.send(RedisCommand("SSUBSCRIBE", lifelineStem(of: consumer.group) + consumer.name))
            } catch {
                await connection.close()
                throw error
            }
            return RedisLifeline(connection: connection)
        }
    }

    /// Stores the time of the heartbeat and finds the dead consumers that hold entries with one script; see ``EventTransport``.
    public func beat(_ limits: HeartbeatLimits, by consumer: GroupConsumer) async throws(EventBusError) -> HeartbeatAnswer {
        let group = consumer.group
        return try await run(
            LivenessScripts.beat, "sending a heartbeat", keys: [key(of: group.stream)] + pulseKeys(of: group),
            [
                group.name, consumer.name, GroupConsumer.released, lifelineStem(of: group), limits.silence.wholeMilliseconds,
                limits.lifelineGrace.wholeMilliseconds, limits.stall.wholeMilliseconds, limits.holdOff.wholeMilliseconds,
            ]
        ) { reply throws(RedisError) in
            guard let parts = reply.array, parts.count == 4, let hasLifeline = parts[0].integer, let calm = parts[1].integer,
                let graceEndsIn = parts[3].integer
            else {
                throw RedisError(.unexpectedReply, "the heartbeat script gave \(reply.kind)")
            }
            return HeartbeatAnswer(
                claimable: (parts[2].array ?? []).compactMap(\.string), hasLifeline: hasLifeline > 0, calm: .milliseconds(calm),
                graceEndsIn: graceEndsIn < 0 ? nil : .milliseconds(graceEndsIn))
        }
    }
}

/// A subscription to a channel without messages. The server counts the channel's subscribers, and drops a subscriber when its connection
/// closes.
private struct RedisLifeline: Lifeline {
    let connection: RedisConnection

    func close() async { await connection.close() }
}
