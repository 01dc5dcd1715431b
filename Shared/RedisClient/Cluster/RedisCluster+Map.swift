import AsyncPrimitives
import Logging
import NIOCore
import Synchronization

extension RedisCluster {
    /// The time limit for one server's answer, so that a server that is down does not delay the others.
    private static let queryTimeout: Duration = .seconds(1)
    /// The most servers that are asked at a time; the first answer counts.
    private static let maxQueries = 5
    /// The least time from one answer to the next request: the servers do not learn of a failover at the same time.
    private static let minRefreshInterval: Duration = .milliseconds(100)

    /// Returns the map; without a map, requests it until `deadline`.
    func map(deadline: NIODeadline) async throws(RedisError) -> SlotMap {
        var failures = 0
        while true {
            let (map, failure, isShutDown) = state.withLock { ($0.map, $0.lastFailure, $0.isShutDown) }
            if isShutDown { throw Self.shutDownError }
            if let map { return map }
            if failures > 0 {
                if failure?.code == .authenticationFailed, let failure { throw failure }
                guard try await pause(afterFailures: failures, deadline: deadline) else {
                    throw RedisError(.connectionFailed, "no server of the Redis cluster answers", underlying: failure)
                }
            }
            await refresh()?.value
            failures += 1
        }
    }

    /// Waits before another attempt; false when `deadline` comes first.
    func pause(afterFailures failures: Int, deadline: NIODeadline) async throws(RedisError) -> Bool {
        let pause = Backoff(min: .milliseconds(10), max: .milliseconds(500)).delay(afterFailures: failures)
        guard NIODeadline.now() + TimeAmount(pause) < deadline else { return false }
        do {
            try await Task.sleep(for: pause)
            return true
        } catch {
            throw RedisError(.cancelled, "the task was cancelled while it waited for the cluster")
        }
    }

    /// Records where slots are.
    func assign(_ moves: [Redirection]) {
        state.withLock { state in
            for move in moves { state.map?.assign(move.slot, to: move.target) }
        }
    }

    /// Begins to ask for the map unless that is under way; returns the task that ends with it.
    @discardableResult
    func refresh() -> Task<Void, Never>? {
        state.withLock { state in
            if state.isShutDown { return nil }
            if let task = state.refresh { return task }
            let isFirst = state.map == nil
            let task = Task { [weak self] in
                if !isFirst { try? await Task.sleep(for: Self.minRefreshInterval) }
                await self?.askForMap()
            }
            state.refresh = task
            return task
        }
    }

    private func askForMap() async {
        let answer = await firstAnswer()
        let (unused, isNew) = state.withLock { state -> ([RedisClient], Bool) in
            state.refresh = nil
            switch answer {
            case .failure(let error):
                state.lastFailure = error
                return ([], false)
            case .success(let map):
                let isNew = state.map?.masters != map.masters
                state.map = map
                state.lastFailure = nil
                let gone = state.clients.keys.filter { !map.servers.contains($0) }
                return (gone.compactMap { state.clients.removeValue(forKey: $0) }, isNew)
            }
        }
        switch answer {
        case .failure(let error):
            logger.warning("No server of the Redis cluster says where the keys are", metadata: ["error": "\(error)"])
        case .success(let map) where isNew:
            logger.info("The masters of the Redis cluster are known", metadata: ["masters": "\(map.masters)"])
        case .success: break
        }
        // They left the cluster; commands that wait there for a connection fail, and are sent to where the map says.
        for client in unused { Task { await client.shutdown() } }
    }

    /// Asks some servers, of the map and of the configuration, and returns the first answer.
    private func firstAnswer() async -> Result<SlotMap, RedisError> {
        let known = Array((state.withLock { $0.map?.servers } ?? []).shuffled().prefix(Self.maxQueries))
        let rounds = known.isEmpty ? [seeds.shuffled()] : [known, seeds.shuffled()]
        var failure = RedisError(.connectionFailed, "the configuration names no server of the Redis cluster")
        for servers in rounds {
            let answer = await withTaskGroup { group in
                for server in servers {
                    group.addTask { () async -> Result<SlotMap, RedisError> in
                        do throws(RedisError) { return .success(try await self.map(from: server)) } catch { return .failure(error) }
                    }
                }
                for await answer in group {
                    switch answer {
                    case .success:
                        group.cancelAll()
                        return answer
                    case .failure(let error): failure = error
                    }
                }
                return .failure(failure)
            }
            if case .success = answer { return answer }
        }
        return .failure(failure)
    }

    private func map(from server: RedisAddress) async throws(RedisError) -> SlotMap {
        let reply = try await client(of: server).send(RedisCommand("CLUSTER", "SLOTS"), timeout: Self.queryTimeout)
        return try SlotMap(reply, from: server)
    }
}
