import Foundation
import Pictures
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Tests of the places that the jobs of an account have in the streams, and of the counts of paid calls.
struct ImageJobTurnTests {
    private func insert(_ user: UUID, _ lane: ImageLane = .standard, waits: Bool = false, cost: Duration = .zero) async throws -> ImageJob {
        var new = NewImageJob.make(user)
        (new.lane, new.awaitsTurn, new.estimatedCost) = (lane, waits, cost)
        return try await jobs.insert(new)
    }

    @Test(.storage) func `the end of a job is the turn of the oldest that waits of its account`() async throws {
        let (user, other) = (try await client.user(1), try await client.user(2))
        let ended = try await insert(user)
        _ = try await insert(other, waits: true)
        let (first, second) = (try await insert(user, waits: true), try await insert(user, .bulk, waits: true))
        let next = try #require(try await jobs.nextTurn(after: ended))
        #expect(next.id == first.id && !next.awaitsTurn)
        #expect(try await jobs.nextTurn(after: next)?.request == ImageRequested(jobID: second.id, lane: .bulk))
        #expect(try await jobs.nextTurn(after: next) == nil)
    }

    @Test(.storage) func `the end of a job sees those whose orders have not committed yet`() async throws {
        let (user, db) = (try await client.user(), client)
        let ended = try await insert(user)
        var new = NewImageJob.make(user)
        new.awaitsTurn = true
        let ordered = new
        let (order, end) = try await WriteGate.closed(db, before: .insert, on: "image_jobs") { gate in
            let order = Task {
                try await db.withTransaction { transaction in
                    let jobs = ImageJobRepository(transaction)
                    _ = try await jobs.lockLoad(of: user)
                    try await jobs.insert(ordered)
                }
            }
            try await gate.isReached(by: 1)
            let end = Task { try await db.withTransaction { try await ImageJobRepository($0).nextTurn(after: ended)?.id } }
            try await gate.isReached(by: 2)
            return (order, end)
        }
        _ = try await order.value
        #expect(try await end.value == ordered.id)
    }

    @Test(.storage) func `the place of a deleted job is filled, and no other`() async throws {
        let user = try await client.user()
        let deleted = try await insert(user)
        _ = try await insert(user)
        let waiting = [try await insert(user, waits: true), try await insert(user, waits: true)]
        #expect(try await jobs.fillTurns(places: 2, limit: 10).isEmpty)
        _ = try await jobs.delete(id: deleted.id, userID: user)
        #expect(try await jobs.fillTurns(places: 2, limit: 10).map(\.id) == [waiting[0].id])
        #expect(try await jobs.fillTurns(places: 2, limit: 10).isEmpty)
    }

    @Test(.storage) func `accounts without a free place, and those that another transaction holds, keep no others from theirs`()
        async throws
    {
        let (full, held, free) = (try await client.user(1), try await client.user(2), try await client.user(3))
        for user in [full, held, free] { _ = try await insert(user, waits: true) }
        _ = try await insert(full)
        let db = client
        try await client.withTransaction { holder in
            _ = try await ImageJobRepository(holder).lockLoad(of: held)
            let filled = try await db.withTransaction { try await ImageJobRepository($0).fillTurns(places: 1, limit: 2) }
            #expect(filled.map(\.userID) == [free])
        }
        #expect(try await jobs.fillTurns(places: 1, limit: 1).map(\.userID) == [held])
    }

    @Test(.storage) func `jobs of others that wait for their turn are behind in the queue`() async throws {
        let (user, other) = (try await client.user(1), try await client.user(2))
        _ = try await insert(other)
        _ = try await insert(other, waits: true)
        let own = [try await insert(user), try await insert(user, waits: true)]
        #expect(try await jobs.queuePosition(id: own[0].id) == 2)
        #expect(try await jobs.queuePosition(id: own[1].id) == 3)
    }

    @Test(.storage) func `the load of an account has its open jobs, its cost of ten minutes and its calls of today`() async throws {
        let user = try await client.user()
        try await jobs.finish(try await insert(user, cost: .seconds(8)).id)
        try await client.execute("UPDATE image_costs SET minute = minute - interval '10 minutes'")
        _ = try await insert(user, cost: .seconds(1))
        _ = try await insert(user, .bulk, waits: true, cost: .seconds(2))
        try await jobs.finish(try await insert(user, cost: .seconds(4)).id)
        #expect(try await ImageCallRepository(client).count(for: user, limits: .usual) == .admitted)
        #expect(try await jobs.lockLoad(of: user) == ImageJobLoad(open: 2, inFlight: 1, cost: .seconds(7), callsToday: 1))
        #expect(try await jobs.lockLoad(of: try await client.user(2)) == ImageJobLoad())
    }

    @Test(.storage) func `the cost of a job outlasts its row`() async throws {
        let user = try await client.user()
        let job = try await insert(user, cost: .seconds(1))
        _ = try await jobs.delete(id: job.id, userID: user)
        #expect(try await jobs.remove([job.id]) == 1)
        #expect(try await jobs.lockLoad(of: user) == ImageJobLoad(cost: .seconds(1)))
    }

    @Test(.storage) func `concurrent calls stay within the limits of an account and of all`() async throws {
        let (user, other) = (try await client.user(1), try await client.user(2))
        // Of six calls the last is for accounts with fewer.
        let limits = ImageCallLimits(perUser: 3, total: 6)
        let db = client
        @Sendable func count(_ user: UUID) async throws -> ImageCallAdmission {
            struct Refused: Error { let admission: ImageCallAdmission }
            do {
                return try await db.withTransaction { transaction in
                    let admission = try await ImageCallRepository(transaction).count(for: user, limits: limits)
                    guard admission == .admitted else { throw Refused(admission: admission) }
                    return admission
                }
            } catch let error as Refused { return error.admission }
        }
        let own = try await race(6) { _ in try await count(user) }
        #expect(own.count { $0 == .admitted } == 3 && own.count { $0 == .userLimitReached } == 3)
        let others = try await race(4) { _ in try await count(other) }
        #expect(others.count { $0 == .admitted } == 2 && others.count { $0 == .totalReached } == 2)
        try await ImageCallRepository(db).takeBack(for: user)
        #expect(try await ImageCallRepository(db).totalToday() == 4)
        #expect(try await count(other) == .admitted)
        #expect(try await count(user) == .totalReached)
    }

    @Test(.storage) func `a fifth of the calls of a day is for accounts that have made few`() async throws {
        let calls = ImageCallRepository(client)
        let limits = ImageCallLimits(perUser: 20, total: 10)
        let (hog, other) = (try await client.user(1), try await client.user(2))
        for _ in 0..<8 { #expect(try await calls.count(for: hog, limits: limits) == .admitted) }
        #expect(try await calls.count(for: hog, limits: limits) == .totalReached)
        for _ in 0..<2 { #expect(try await calls.count(for: other, limits: limits) == .admitted) }
        #expect(try await calls.count(for: other, limits: limits) == .totalReached)
    }
}
