import Accounts
import Foundation
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Tests of the places that the sessions of an address have in the streams, and of the time of face engines that counts for it.
struct SessionTurnTests {
    private static let origin = origin(0)

    private static func origin(_ number: Int) -> RequestOrigin {
        RequestOrigin(addressKey: hash(70 + 10 * number), siteKey: hash(71 + number))
    }

    /// Inserts a session of an address.
    private func insert(
        _ lane: EkycLane = .new, waits: Bool = false, from origin: RequestOrigin = Self.origin, cost: Duration = .zero,
        processingTime: Duration = .seconds(600)
    ) async throws -> Session {
        var new = NewSession.make(.signUp, processingTime: processingTime)
        (new.lane, new.awaitsTurn, new.origin, new.estimatedCost) = (lane, waits, origin, cost)
        return try await sessions.insert(new)
    }

    @Test(.storage) func `the end of a session is the turn of the oldest that waits at its address`() async throws {
        let ended = try await insert()
        _ = try await insert(waits: true, from: RequestOrigin(addressKey: hash(72), siteKey: hash(71)))
        _ = try await insert(.bulk, waits: true)
        let (first, second) = (try await insert(waits: true), try await insert(waits: true))
        let next = try #require(try await sessions.nextTurn(after: ended))
        #expect(next.id == first.id && !next.awaitsTurn)
        #expect(try await sessions.nextTurn(after: next)?.request == EkycRequested(sessionID: second.id, event: .signUp, lane: .new))
        #expect(try await sessions.nextTurn(after: next) == nil)
    }

    @Test(.storage) func `a site has one place for its slow sessions, whatever their addresses`() async throws {
        let neighbour = RequestOrigin(addressKey: hash(72), siteKey: hash(71))
        _ = try await insert(waits: true)
        let slow = [try await insert(.bulk, waits: true), try await insert(.bulk, waits: true, from: neighbour)]
        let filled = try await sessions.fillTurns(places: 4, limit: 10)
        #expect(filled.filter { $0.lane == .bulk }.map(\.id) == [slow[0].id] && filled.count == 2)
        #expect(try await sessions.fillTurns(places: 4, limit: 10).isEmpty)
        #expect(try await sessions.nextTurn(after: try #require(filled.last))?.id == slow[1].id)
        #expect(try await sessions.nextTurn(after: try #require(filled.last)) == nil)
    }

    @Test(.storage) func `of the addresses of a site the one that has used the least has the next turn`() async throws {
        let neighbour = RequestOrigin(addressKey: hash(72), siteKey: hash(71))
        let ended = try await insert(.bulk, cost: .seconds(3))
        let flood = try await insert(.bulk, waits: true)
        let honest = try await insert(.bulk, waits: true, from: neighbour)
        #expect(try await sessions.nextTurn(after: ended)?.id == honest.id)
        #expect(try await sessions.nextTurn(after: ended)?.id == flood.id)
    }

    @Test(.storage) func `a session that held no place gives none`() async throws {
        _ = try await insert(waits: true)
        #expect(try await sessions.nextTurn(after: try await insert(.known)) == nil)
        #expect(try await sessions.nextTurn(after: try await insert(waits: true)) == nil)
        #expect(try await sessions.nextTurn(after: try await insert(from: .unknown)) == nil)
    }

    @Test(.storage) func `the end of a session sees those whose admission has not committed yet`() async throws {
        let (ended, db) = (try await insert(), client)
        var new = NewSession.make(.signUp)
        (new.awaitsTurn, new.origin) = (true, Self.origin)
        let admitted = new
        let (admission, end) = try await WriteGate.closed(db, before: .insert, on: "sessions") { gate in
            let admission = Task {
                try await db.withTransaction { transaction in
                    let sessions = SessionRepository(transaction)
                    _ = try await sessions.lockUndecided(of: admitted.origin, installationKey: nil, accountID: nil)
                    try await sessions.insert(admitted)
                }
            }
            try await gate.isReached(by: 1)
            let end = Task { try await db.withTransaction { try await SessionRepository($0).nextTurn(after: ended)?.id } }
            try await gate.isReached(by: 2)
            return (admission, end)
        }
        try await admission.value
        let next = try await end.value
        #expect(next == admitted.id)
    }

    @Test(.storage) func `places that became free without a decision are filled, and no more than those`() async throws {
        let deleted = try await insert()
        _ = try await insert()
        _ = try await insert(.known)
        let waiting = [try await insert(waits: true), try await insert(waits: true)]
        #expect(try await sessions.fillTurns(places: 2, limit: 10).isEmpty)
        try await client.execute("DELETE FROM sessions WHERE id = \(deleted.id)")
        #expect(try await sessions.fillTurns(places: 2, limit: 10).map(\.id) == [waiting[0].id])
        #expect(try await sessions.fillTurns(places: 2, limit: 10).isEmpty)
    }

    @Test(.storage) func `addresses without a free place, and those that another transaction holds, keep no others from theirs`()
        async throws
    {
        let (full, held, free) = (Self.origin, Self.origin(1), Self.origin(2))
        for origin in [full, held, free] { _ = try await insert(waits: true, from: origin) }
        _ = try await insert(from: full)
        let db = client
        try await client.withTransaction { holder in
            _ = try await SessionRepository(holder).lockUndecided(of: held, installationKey: nil, accountID: nil)
            let filled = try await db.withTransaction { try await SessionRepository($0).fillTurns(places: 1, limit: 2) }
            #expect(filled.map(\.origin) == [free])
        }
        #expect(try await sessions.fillTurns(places: 1, limit: 1).map(\.origin) == [held])
    }

    @Test(.storage) func `a waiting session that has expired takes no place`() async throws {
        _ = try await insert(waits: true, processingTime: .seconds(-1))
        let waiting = try await insert(waits: true)
        #expect(try await sessions.fillTurns(places: 1, limit: 10).map(\.id) == [waiting.id])
    }

    @Test(.storage) func `undecided sessions are counted with those in the streams`() async throws {
        for (lane, waits) in [(EkycLane.new, false), (.bulk, false), (.known, false), (.bulk, true)] {
            _ = try await insert(lane, waits: waits)
        }
        let undecided = try await sessions.undecided(of: Self.origin, installationKey: nil, accountID: nil)
        let expected = UndecidedSessions(
            total: 4, waiting: 1, bulk: 1, ofAddress: 4, inFlightOfAddress: 1, waitingOfAddress: 1, bulkOfSite: 1)
        #expect(undecided == expected)
    }

    @Test(.storage) func `the time of face engines counts for ten minutes, by its estimate until it is measured`() async throws {
        let (neighbour, stranger) = (
            RequestOrigin(addressKey: hash(72), siteKey: hash(71)), RequestOrigin(addressKey: hash(73), siteKey: hash(74))
        )
        let measured = try await insert(cost: .milliseconds(900))
        _ = try await insert(.bulk, waits: true, cost: .milliseconds(500))
        _ = try await insert(.known, cost: .seconds(7))
        _ = try await insert(from: neighbour, cost: .seconds(2))
        _ = try await insert(from: stranger, cost: .seconds(5))
        let old = try await insert(cost: .seconds(60))
        try await client.execute("UPDATE sessions SET created_at = created_at - interval '10 minutes' WHERE id = \(old.id)")
        func engineTime(of origin: RequestOrigin) async throws -> EngineTime { try await sessions.engineTime(of: origin, userID: nil) }
        func times(_ ofAddress: Int, _ ofSite: Int) -> EngineTime {
            EngineTime(ofAddress: .milliseconds(ofAddress), ofSite: .milliseconds(ofSite), knownOfSite: .seconds(7))
        }
        #expect(try await engineTime(of: Self.origin) == times(1_400, 3_400))
        #expect(try await sessions.complete(id: measured.id, outcome: .succeeded, cost: .milliseconds(100)))
        #expect(try await engineTime(of: Self.origin) == times(600, 2_600))
        #expect(try await engineTime(of: .unknown) == EngineTime())
    }

    @Test(.storage) func `a photo that takes no time counts as one whose face is described`() async throws {
        let tiny = try await insert(cost: .milliseconds(90))
        let photo = #"{"key": "k", "pose": "front", "sha256": ""}"#
        try await client.execute("UPDATE sessions SET photos = \("[\(photo), \(photo), \(photo)]")::text::jsonb WHERE id = \(tiny.id)")
        #expect(try await sessions.complete(id: tiny.id, outcome: .failed(.noFace), cost: .milliseconds(2)))
        let time = try await sessions.engineTime(of: Self.origin, userID: nil)
        #expect(time.ofAddress == SessionRepository.photoCost * 3)
    }

    @Test(.storage) func `the time of sessions that were served before others counts for their account`() async throws {
        let known = try await insert(.known, cost: .seconds(7))
        _ = try await insert(.known, from: .unknown, cost: .seconds(5))
        _ = try await insert(cost: .seconds(1))
        let time = try await sessions.engineTime(of: .unknown, userID: known.userID)
        #expect(time == EngineTime(ofAccount: .seconds(7)))
        try await client.execute("UPDATE sessions SET created_at = created_at - interval '10 minutes'")
        #expect(try await sessions.engineTime(of: .unknown, userID: known.userID) == EngineTime())
    }
}
