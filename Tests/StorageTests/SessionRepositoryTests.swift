import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct SessionRepositoryTests {
    @Test(.storage) func `an inserted session is read back completely`() async throws {
        let new = NewSession(
            userID: UUID(), event: .signUp, authorised: true, tokenHash: hash(1), installID: UUID(),
            installationKey: hash(2),
            photos: [SessionPhoto(key: "ekyc/x/0", pose: .left, sha256: String(repeating: "ab", count: 32))],
            requestID: "r-1", traceparent: "00-aa-bb-01")
        let inserted = try await sessions.insert(new)
        let session = try #require(try await sessions.find(id: new.id))
        #expect(session == inserted)
        #expect(session.state == .received)
        #expect(session.userID == new.userID)
        #expect(session.event == .signUp)
        #expect(session.authorised)
        #expect(session.tokenHash == new.tokenHash)
        #expect(session.installID == new.installID)
        #expect(session.installationKey == hash(2))
        #expect(session.photos == new.photos)
        #expect(session.requestID == "r-1")
        #expect(session.traceparent == "00-aa-bb-01")
        #expect(session.reason == nil)
        #expect(session.retryable == nil)
        #expect(session.completedAt == nil)
        #expect(session.deadlineAt.timeIntervalSince(session.createdAt) == 600)
        #expect(session.expiresAt.timeIntervalSince(session.createdAt) == 86400)
    }

    @Test(.storage) func `the e-mail of a sign-up is kept until it is decided or expires`() async throws {
        let email = SealedEmail(lookup: hash(5), sealed: [4, 2])
        var (decided, overdue) = (NewSession.make(.signUp), NewSession.make(.signUp, processingTime: .seconds(-1)))
        decided.email = email
        overdue.email = email
        try await sessions.insert(overdue)
        #expect(try await sessions.insert(decided).email == email)
        #expect(try await sessions.beginProcessing(id: decided.id)?.email == email)
        #expect(try await sessions.complete(id: decided.id, outcome: .succeeded))
        #expect(try await sessions.expireOverdue(limit: 10).map(\.id) == [overdue.id])
        #expect(try await sessions.find(ids: [decided.id, overdue.id]).allSatisfy { $0.email == nil })
        var signIn = NewSession.make(.signIn)
        signIn.email = email
        let refused = signIn
        await #expect(throws: PostgresError.self) { try await sessions.insert(refused) }
    }

    @Test(.storage) func `bad photos are named beside a reason of the photos alone, and beside no other`() async throws {
        let problems = [PhotoProblems(pose: .left, index: 2, problems: [.tooDark, .turnedTooLittle])]
        for reason in SessionReason.allCases {
            let session = try await sessions.insert(.make(.signUp))
            #expect(try await sessions.complete(id: session.id, outcome: .failed(reason), problems: problems))
            #expect(try await sessions.find(id: session.id)?.photoProblems == (reason.isOfPhotosAlone ? problems : []), "\(reason)")
        }
        let alone = SessionReason.allCases.filter(\.isOfPhotosAlone)
        let named = try await client.query("SELECT reason FROM sessions WHERE photo_problems <> '[]' ORDER BY reason")
            .column("reason", as: String.self)
        #expect(named == alone.map(\.rawValue).sorted())
        await #expect(throws: PostgresError.self, "Postgres does not keep them beside another reason, either") {
            try await client.execute("UPDATE sessions SET reason = 'no_match' WHERE reason = 'no_face'")
        }
        let signIn = try await sessions.insert(.make(.signIn))
        #expect(try await sessions.complete(id: signIn.id, outcome: .succeeded, problems: problems))
        #expect(try await sessions.find(id: signIn.id)?.photoProblems == [])
    }

    @Test(.storage) func `a session can be processed again until it has ended`() async throws {
        let session = try await sessions.insert(.make())
        let first = try #require(try await sessions.beginProcessing(id: session.id))
        let second = try #require(try await sessions.beginProcessing(id: session.id))
        #expect(first.state == .processing)
        #expect(first.startedAt == second.startedAt)
        #expect(try await sessions.complete(id: session.id, outcome: .failed(.noFace)))
        #expect(try await sessions.beginProcessing(id: session.id) == nil)
        #expect(try await sessions.beginProcessing(id: UUID()) == nil)
    }

    @Test(.storage) func `exactly one of several concurrent decisions takes effect`() async throws {
        let id = try await sessions.insert(.make()).id
        let ended = try await race(16) { index in
            try await sessions.complete(id: id, outcome: index.isMultiple(of: 2) ? .succeeded : .failed(.noMatch))
        }
        #expect(ended.count { $0 } == 1)
    }

    @Test(.storage) func `the database accepts every reason`() async throws {
        for reason in SessionReason.allCases {
            let id = try await sessions.insert(.make()).id
            #expect(try await sessions.complete(id: id, outcome: .failed(reason)))
            let session = try await sessions.find(id: id)
            #expect(session?.reason == reason)
            #expect(session?.retryable == ![.alreadyEnrolled, .faceInUse].contains(reason))
            #expect(session?.completedAt != nil)
        }
    }

    @Test(.storage) func `a successful sign-in is redeemed once, by the holder of its token`() async throws {
        let id = try await sessions.insert(.make(.signIn, token: 1)).id
        #expect(try await sessions.redeem(id: id, tokenHash: hash(1)) == nil, "not decided yet")
        #expect(try await sessions.complete(id: id, outcome: .succeeded))
        #expect(try await sessions.redeem(id: id, tokenHash: hash(2)) == nil, "another session's token")
        #expect(try await !sessions.isRedeemed(id: id, tokenHash: hash(1)), "not yet")
        let redeemed = try await race(12) { _ in try await sessions.redeem(id: id, tokenHash: hash(1)) }
        #expect(redeemed.compactMap { $0 }.count == 1)
        #expect(try await sessions.isRedeemed(id: id, tokenHash: hash(1)))
        #expect(try await !sessions.isRedeemed(id: id, tokenHash: hash(2)))
        try await client.execute(
            "UPDATE sessions SET completed_at = completed_at - interval '5 minutes 1 second' WHERE id = \(id)")
        #expect(try await !sessions.isRedeemed(id: id, tokenHash: hash(1)))
    }

    @Test(.storage) func `neither a sign-up, nor a failure, nor an old success can be redeemed`() async throws {
        let signUp = try await sessions.insert(.make(.signUp)).id
        let failed = try await sessions.insert(.make(.signIn)).id
        let old = try await sessions.insert(.make(.signIn)).id
        #expect(try await sessions.complete(id: signUp, outcome: .succeeded))
        #expect(try await sessions.complete(id: failed, outcome: .failed(.noMatch)))
        #expect(try await sessions.complete(id: old, outcome: .succeeded))
        try await client.execute(
            "UPDATE sessions SET completed_at = now() - interval '5 minutes 1 second' WHERE id = \(old)")
        for id in [signUp, failed, old] {
            #expect(try await sessions.redeem(id: id, tokenHash: hash(1)) == nil)
        }
    }

    @Test(.storage) func `a failed sign-in keeps its attempts left after later sign-ins`() async throws {
        let user = UUID()
        let first = try await client.fail(.noMatch, user: user)
        #expect(first.attemptsLeft == 4)
        _ = try await sessions.complete(id: sessions.insert(.make(.signIn, user: user)).id, outcome: .succeeded)
        #expect(try await client.fail(.noMatch, user: user).attemptsLeft == 4)
        #expect(try await sessions.find(id: first.id) == first)
    }

    @Test(.storage) func `attempts left count down to zero, and failures that compared no face cost none`() async throws {
        let user = UUID()
        var left: [Int?] = []
        for reason in [.noMatch, .internal, .noFace, .noMatch, .timeout, .noMatch, .noMatch, .noMatch] as [SessionReason] {
            left.append(try await client.fail(reason, user: user).attemptsLeft)
        }
        #expect(left == [4, 4, 4, 3, 3, 2, 1, 0], "the lock holds for a minute")
        try await client.execute("UPDATE sessions SET completed_at = completed_at - interval '60 seconds'")
        #expect(try await client.fail(.noMatch, user: user).attemptsLeft == 4, "the next lock is at the tenth failure")
        #expect(SessionReason.allCases.filter(\.comparesFaces) == [.livenessFailed, .noMatch])
        try await client.execute("UPDATE sessions SET completed_at = completed_at - interval '86401 seconds'")
        #expect(try await client.fail(.noMatch, user: user).attemptsLeft == 4)
    }

    @Test(.storage) func `a sign-in that leaves no attempt is not retryable, and says until when, as the lock itself`() async throws {
        let user = UUID()
        for left in [4, 3, 2, 1] {
            let session = try await client.fail(.noMatch, user: user)
            #expect(session.attemptsLeft == left && session.retryable == true && session.lockedUntil == nil)
        }
        for reason in [SessionReason.noMatch, .internal] {
            let session = try await client.fail(reason, user: user)
            #expect(session.attemptsLeft == 0 && session.retryable == false)
            let attempts = try await client.withTransaction { transaction in
                try await SessionRepository(transaction).lockSignInAttempts(attemptKeys: [user], userID: user, installationKey: hash(99))
            }
            let (stored, checked) = (try #require(session.lockedUntil), try #require(attempts.budget(at: Date()).lockedUntil))
            #expect(abs(stored.timeIntervalSince(checked)) < 0.001)
        }
    }

    @Test(.storage) func `a success resets the failures of its own device only`() async throws {
        let user = UUID()
        _ = try await client.fail(.noMatch, user: user, device: 1)
        _ = try await client.fail(.noMatch, user: user, device: 2)
        let owner = try await sessions.insert(.make(.signIn, user: user, device: 1)).id
        #expect(try await sessions.complete(id: owner, outcome: .succeeded))
        #expect(try await client.fail(.noMatch, user: user, device: 2).attemptsLeft == 3)
    }

    @Test(.storage) func `concurrently failing sign-ins each count those before them`() async throws {
        let user = UUID()
        let left = try await race(5) { _ in try await client.fail(.noMatch, user: user).attemptsLeft ?? -1 }
        #expect(left.sorted() == [0, 1, 2, 3, 4])
    }

    @Test(.storage) func `only a failed sign-in has attempts left`() async throws {
        let signUp = try await sessions.insert(.make(.signUp)).id
        let signIn = try await sessions.insert(.make(.signIn)).id
        #expect(try await sessions.complete(id: signUp, outcome: .failed(.noFace)))
        #expect(try await sessions.complete(id: signIn, outcome: .succeeded))
        #expect(try await sessions.find(ids: [signUp, signIn]).allSatisfy { $0.attemptsLeft == nil })
    }
}

extension NewSession {
    /// A session of a new user by default.
    static func make(
        _ event: EkycEvent = .signIn, token: Int = 1, user: UUID = UUID(), device: Int = 99,
        processingTime: Duration = .seconds(600), photos: [SessionPhoto] = []
    ) -> NewSession {
        NewSession(
            userID: user, event: event, attemptKey: event == .signIn ? user : nil, tokenHash: hash(token), installID: UUID(),
            installationKey: hash(device),
            photos: photos, processingTime: processingTime)
    }
}

extension PostgresClient {
    /// Starts a sign-in and fails it in a transaction, as the worker does.
    func fail(_ reason: SessionReason, user: UUID, device: Int = 99) async throws -> Session {
        let id = try await SessionRepository(self).insert(.make(.signIn, user: user, device: device)).id
        #expect(
            try await withTransaction { transaction in
                try await SessionRepository(transaction).complete(id: id, outcome: .failed(reason))
            })
        return try #require(try await SessionRepository(self).find(id: id))
    }
}
