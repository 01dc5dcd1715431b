import NIOCore

extension RedisCluster {
    /// Sends commands, each to the server that has its key, and returns their replies in the order of the commands.
    ///
    /// Commands that were certainly not executed are sent again, to where the cluster says, until `deadline`. The others fail: see
    /// ``RedisError/mayHaveExecuted``. When some servers answered and others did not, the replies of the latter are errors:
    /// ``RedisServerErrorCode/unreachable`` and ``RedisServerErrorCode/unanswered``.
    func pipeline(_ commands: [RedisCommand], deadline: NIODeadline) async throws(RedisError) -> [RedisReply] {
        if commands.isEmpty { return [] }
        let results = try await execute(commands, deadline: deadline)
        var failure: RedisError?
        var replies: [RedisReply] = []
        var hasAnswer = false
        for result in results {
            switch result {
            case .success(let reply):
                hasAnswer = true
                replies.append(reply)
            case .failure(let error):
                // If one command may have been executed, the caller must assume it of all of them.
                if failure == nil || error.mayHaveExecuted { failure = error }
                replies.append(RedisReply(failure: error))
            }
        }
        if let failure, !hasAnswer { throw failure }
        return replies
    }

    private func execute(
        _ commands: [RedisCommand], deadline: NIODeadline
    ) async throws(RedisError) -> [Result<RedisReply, RedisError>] {
        var batch = ClusterBatch(slots: commands.map(\.slot))
        var pauses = 0
        while true {
            let map = try await map(deadline: deadline)
            for (part, answer) in await send(batch.parts(in: map), of: commands, deadline: deadline) {
                switch answer {
                case .success(let replies): batch.receive(replies, for: part)
                case .failure(let error) where error.code == .cancelled: throw error
                case .failure(let error): batch.fail(error, for: part)
                }
            }
            let advice = batch.endRound()
            assign(advice.moves)
            if advice.needsMap { refresh() }
            if let results = batch.results { return results }
            if advice.needsPause { pauses += 1 }
            let goesOn = advice.needsPause ? try await pause(afterFailures: pauses, deadline: deadline) : NIODeadline.now() < deadline
            if !goesOn { batch.giveUp() }
            if let results = batch.results { return results }
        }
    }

    private typealias Answer = (part: ClusterBatch.Part, replies: Result<[RedisReply], RedisError>)

    /// Sends the parts of a round at the same time.
    private func send(_ parts: [ClusterBatch.Part], of commands: [RedisCommand], deadline: NIODeadline) async -> [Answer] {
        // Most batches have one part, which needs no further task.
        if parts.count == 1 { return [await send(parts[0], of: commands, deadline: deadline)] }
        return await withTaskGroup(of: Answer.self) { group in
            for part in parts {
                group.addTask { await self.send(part, of: commands, deadline: deadline) }
            }
            var answers: [Answer] = []
            for await answer in group { answers.append(answer) }
            return answers
        }
    }

    private func send(_ part: ClusterBatch.Part, of commands: [RedisCommand], deadline: NIODeadline) async -> Answer {
        let sent = part.commands.flatMap { part.isAsking ? [RedisCommand("ASKING"), commands[$0]] : [commands[$0]] }
        let remaining = Duration.nanoseconds(max((deadline - NIODeadline.now()).nanoseconds, 0))
        do throws(RedisError) {
            let replies = try await client(of: part.server).pipeline(sent, timeout: remaining)
            guard part.isAsking else { return (part, .success(replies)) }
            let pairs = stride(from: 0, to: replies.count - 1, by: 2).map { (asking: replies[$0], reply: replies[$0 + 1]) }
            return (part, .success(pairs.map { $0.asking.error == nil ? $0.reply : $0.asking }))
        } catch {
            return (part, .failure(error))
        }
    }
}
