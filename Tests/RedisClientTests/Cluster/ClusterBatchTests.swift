import Testing

@testable import RedisClient

@Suite struct ClusterBatchTests {
    /// Slots of the masters 1, 2 and 3.
    private let slots = [0, 6000, 12_000].map { ClusterSlot(number: $0) }

    private func batch(_ positions: [Int]) -> ClusterBatch { ClusterBatch(slots: positions.map { slots[$0] }) }

    private func texts(_ batch: ClusterBatch) throws -> [String] {
        try #require(batch.results).map { result in
            switch result {
            case .success(let reply): reply.error?.message ?? reply.string ?? ""
            case .failure(let error): "failed: \(error.code)"
            }
        }
    }

    @Test func `Each server gets its commands in one part, in their order`() throws {
        var batch = batch([0, 1, 0, 2, 1])
        let parts = batch.parts(in: try .sample())
        #expect(parts.map(\.server) == [.sample(1), .sample(2), .sample(3)])
        #expect(parts.map(\.commands) == [[0, 2], [1, 4], [3]])
        #expect(parts.allSatisfy { !$0.isAsking })
    }

    @Test func `The results stand in the order of the commands`() throws {
        var batch = batch([0, 1, 0])
        let parts = batch.parts(in: try .sample())
        batch.receive([try .error("ERR second")], for: parts[1])
        #expect(batch.results == nil)
        batch.receive([try .ok(), try .error("ERR third")], for: parts[0])
        #expect(try texts(batch) == ["OK", "ERR second", "ERR third"])
    }

    @Test func `A moved command goes to where it was sent, and the map is corrected`() throws {
        var batch = batch([0, 0])
        let first = batch.parts(in: try .sample())
        batch.receive([try .error("MOVED 0 10.0.0.2:7000"), try .error("MOVED 0 10.0.0.2:7000")], for: first[0])
        let advice = batch.endRound()
        #expect(advice.moves.map(\.target) == [.sample(2), .sample(2)] && advice.needsMap && !advice.needsPause)
        let second = batch.parts(in: try .sample())
        #expect(second == [ClusterBatch.Part(server: .sample(2), isAsking: false, commands: [0, 1])])
    }

    @Test func `An asking command goes to the other server once, and the map stays`() throws {
        var batch = batch([0])
        var part = batch.parts(in: try .sample())[0]
        batch.receive([try .error("ASK 0 10.0.0.2:7000")], for: part)
        #expect(batch.endRound() == ClusterBatch.Advice())
        part = batch.parts(in: try .sample())[0]
        #expect(part == ClusterBatch.Part(server: .sample(2), isAsking: true, commands: [0]))
        // With several keys, of which some are not there yet, the other server cannot execute it either.
        batch.receive([try .error("TRYAGAIN Multiple keys request during rehashing of slot")], for: part)
        #expect(batch.endRound().needsPause)
        part = batch.parts(in: try .sample())[0]
        #expect(part.server == .sample(1) && !part.isAsking)
    }

    @Test(arguments: ["CLUSTERDOWN The cluster is down", "LOADING Redis is loading", "MASTERDOWN Link is down"])
    func `A server that cannot execute the command is asked again after a pause, with a new map`(text: String) throws {
        var batch = batch([0])
        let part = batch.parts(in: try .sample())[0]
        batch.receive([try .error(text)], for: part)
        #expect(batch.endRound() == ClusterBatch.Advice(needsMap: true, needsPause: true))
        #expect(batch.results == nil)
        batch.giveUp()
        #expect(try texts(batch) == [text])
    }

    @Test func `A command that was not sent is sent again, one that may have been executed is not`() throws {
        var batch = batch([0, 1])
        let parts = batch.parts(in: try .sample())
        batch.fail(RedisError(.connectionFailed, "refused"), for: parts[0])
        batch.fail(RedisError(.connectionLost, "lost", mayHaveExecuted: true), for: parts[1])
        #expect(batch.endRound() == ClusterBatch.Advice(needsMap: true, needsPause: true))
        let next = batch.parts(in: try .sample())
        #expect(next.map(\.commands) == [[0]])
        batch.receive([try .ok()], for: next[0])
        #expect(try texts(batch) == ["OK", "failed: connectionLost"])
    }

    @Test func `A command that is redirected without end gets its last redirection as reply`() throws {
        var batch = batch([0])
        for round in 0...ClusterBatch.maxRedirections {
            #expect(batch.results == nil)
            let part = batch.parts(in: try .sample())[0]
            batch.receive([try .error("MOVED 0 10.0.0.\(round % 3 + 1):7000")], for: part)
            _ = batch.endRound()
        }
        #expect(try texts(batch).first?.hasPrefix("MOVED") == true)
    }

    @Test func `A command whose slot has no server waits for a new map`() throws {
        var batch = batch([0])
        #expect(batch.parts(in: SlotMap()).isEmpty)
        #expect(batch.endRound() == ClusterBatch.Advice(needsMap: true, needsPause: true))
        batch.giveUp()
        #expect(try texts(batch) == ["failed: connectionFailed"])
    }
}
