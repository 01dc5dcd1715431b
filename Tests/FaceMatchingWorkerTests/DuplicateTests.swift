import Accounts
import AsyncPrimitives
import FaceEngine
import Foundation
import HeliographCrypto
import Logging
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import FaceMatchingWorker

@Suite struct DuplicateTests {
    @Test func `an operator gets a list of two accounts with one face, and the sign-up goes on`() async throws {
        try await HandlerFixture.with { fixture in
            let (first, second) = (UUID(), UUID())
            for user in [first, second] {
                #expect(try await fixture.outcome(of: fixture.upload(.signUp, user: user)).state == .succeeded)
            }
            let pairs = try await FaceDuplicateRepository(fixture.postgres).list(.open, limit: 10)
            #expect(pairs.map { [$0.userID, $0.otherID] } == [[second, first]])
            #expect(try await fixture.found("succeeded", "review", of: second) == 1)
            #expect(try await fixture.count("audit_log WHERE action = 'face_duplicate_found'") == 1)
        }
    }

    @Test func `the face of another person is no duplicate`() async throws {
        try await HandlerFixture.with { fixture in
            try await fixture.enrol(UUID(), sealed: Array("damaged".utf8))
            try await fixture.enrolStranger()
            #expect(try await fixture.outcome(of: fixture.upload(.signUp)).state == .succeeded)
            #expect(try await fixture.count("face_duplicates") == 0)
            #expect(try await fixture.count("audit_log WHERE action = 'face_duplicate_found'") == 0)
        }
    }

    @Test func `a sign-up with the face of another account is refused where the operator has chosen so`() async throws {
        try await HandlerFixture.with { fixture in
            _ = try await fixture.outcome(of: fixture.upload(.signUp))
            let user = UUID()
            let session = try await fixture.outcome(of: fixture.upload(.signUp, user: user), policy: .refuse)
            #expect(session.reason == .faceInUse && session.retryable == false)
            #expect(try await fixture.count("users") == 1)
            #expect(try await fixture.count("face_templates") == 1)
            #expect(try await fixture.count("face_duplicates") == 0)
            #expect(try await fixture.found("refused", "refuse", of: user) == 1)
        }
    }

    @Test func `any number of sign-ups that wait for their proof hide no account with their face`() async throws {
        try await HandlerFixture.with { fixture in
            let (first, account) = (UUID(), UUID())
            _ = try await fixture.outcome(of: fixture.upload(.signUp, user: first))
            let template = try await fixture.face(of: first).template
            try await fixture.postgres.execute("DELETE FROM users")
            func sealed(_ face: EnrolledFace, for id: UUID) throws -> [UInt8] {
                try fixture.sealer.seal(face.encoded(), context: SealingContext.faceTemplate(userID: id))
            }
            // The faces that wait are nearer to that of the sign-up than the account's, which is another picture of the person.
            try await fixture.enrol(account, sealed: sealed(template.blurred(), for: account))
            for _ in 0..<FaceIndex.maxCandidates {
                let id = UUID()
                let sealed = try sealed(template, for: id)
                let face = NewFaceTemplate(
                    userID: id, modelID: FaceModels.modelID, pipelineVersion: Int(EnrolledFace.currentPipelineVersion),
                    templateSealed: sealed)
                try await PendingEnrolmentRepository(fixture.postgres).insert(id: UUID(), face: face, photos: [])
            }
            let session = try await fixture.outcome(of: fixture.upload(.signUp), policy: .refuse)
            #expect(session.reason == .faceInUse)
        }
    }

    @Test func `without a proof the answer is that of any sign-up, and the face waits for a code that will refuse it`() async throws {
        try await HandlerFixture.with { fixture in
            let (known, new) = (UUID(), UUID())
            let first = try await fixture.upload(.signUp, user: new, proof: .none)
            let unknown = try await fixture.outcome(of: first, policy: .refuse)
            try await fixture.postgres.execute("DELETE FROM pending_enrolments")
            _ = try await fixture.outcome(of: fixture.upload(.signUp, user: known))
            let second = try await fixture.upload(.signUp, proof: .none)
            let duplicate = try await fixture.outcome(of: second, policy: .refuse)
            #expect(duplicate.state == .succeeded && duplicate.state == unknown.state)
            #expect(duplicate.awaitsVerification && unknown.awaitsVerification)
            let events = (try await fixture.events(about: first).keys.sorted(), try await fixture.events(about: second).keys.sorted())
            #expect(events.0 == events.1)
            #expect(try await fixture.count("pending_enrolments WHERE refuses_duplicates") == 1)
            #expect(try await fixture.count("face_duplicates WHERE other_id = '\(known)'") == 1)
            #expect(try await FaceDuplicateRepository(fixture.postgres).list(.open, limit: 10).isEmpty)
        }
    }

    @Test func `of two sign-ups with one face at the same time, one is refused`() async throws {
        try await HandlerFixture.with { fixture in
            let requests = [try await fixture.upload(.signUp), try await fixture.upload(.signUp)]
            let reasons = try await withThrowingTaskGroup(of: SessionReason?.self) { group in
                for request in requests { group.addTask { try await fixture.outcome(of: request, policy: .refuse).reason } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(reasons) == [nil, .faceInUse])
            #expect(try await fixture.count("users") == 1)
        }
    }

    @Test func `a sign-up that waits for the mails of its e-mail keeps no other one waiting`() async throws {
        try await HandlerFixture.with { fixture in
            let user = UUID()
            let (held, free) = (
                try await fixture.upload(.signUp, user: user, proof: .none), try await fixture.upload(.signUp, proof: .none)
            )
            let waiting = try await fixture.postgres.withTransaction { transaction in
                try await CodeMailRepository(transaction).lock(SealedEmail(lookup: SHA256.hash("\(user)"), sealed: [1]).lookups)
                let waiting = Task { try await fixture.outcome(of: held) }
                try await eventually("the sign-up waits for the lock") {
                    try await fixture.count("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
                }
                #expect(try await fixture.outcome(of: free).state == .succeeded)
                return waiting
            }
            #expect(try await waiting.value.state == .succeeded)
        }
    }

    @Test func `an account may replace its own face`() async throws {
        try await HandlerFixture.with { fixture in
            let user = UUID()
            _ = try await fixture.outcome(of: fixture.upload(.signUp, user: user))
            try await fixture.postgres.execute("DELETE FROM face_photo_hashes")
            let again = try await fixture.upload(.signUp, user: user, proof: .account(nil))
            #expect(try await fixture.outcome(of: again, policy: .refuse).state == .succeeded)
            #expect(try await fixture.count("face_duplicates") == 0)
        }
    }

    @Test func `a pair that an operator has resolved is neither refused nor listed again`() async throws {
        try await HandlerFixture.with { fixture in
            let (first, second) = (UUID(), UUID())
            for user in [first, second] { _ = try await fixture.outcome(of: fixture.upload(.signUp, user: user)) }
            let duplicates = FaceDuplicateRepository(fixture.postgres)
            let pair = try #require(try await duplicates.list(.open, limit: 1).first)
            #expect(try await duplicates.resolve(id: pair.id))
            let again = try await fixture.upload(.signUp, user: second, proof: .account(nil))
            #expect(try await fixture.outcome(of: again, policy: .refuse).state == .succeeded)
            #expect(try await duplicates.list(.open, limit: 1).isEmpty)
            #expect(try await fixture.count("face_duplicates WHERE state = 'resolved'") == 1)
        }
    }

    @Test func `nothing is searched when that is off`() async throws {
        try await HandlerFixture.with { fixture in
            for _ in 0..<2 {
                let session = try await fixture.outcome(of: fixture.upload(.signUp), policy: .off)
                #expect(session.state == .succeeded)
            }
            #expect(try await fixture.count("face_duplicates") == 0)
        }
    }

    @Test func `the memory of each worker follows what others enrol and erase`() async throws {
        try await HandlerFixture.with { fixture in
            let feeds = [fixture.feed(), fixture.feed()]
            let user = try await fixture.enrolStranger()
            for feed in feeds {
                _ = try await feed.refresh()
                #expect(await feed.index.count == 1)
            }
            let late = fixture.feed()
            try await fixture.enrolStranger()
            try await fixture.postgres.execute("DELETE FROM users WHERE id = \(user)")
            for feed in feeds + [late] {
                _ = try await feed.refresh()
                #expect(await feed.index.count == 1)
            }
        }
    }

    @Test func `a worker is ready once it has read the faces`() async throws {
        try await HandlerFixture.with { fixture in
            try await fixture.enrolStranger()
            let service = FaceIndexService(
                feed: fixture.feed(), postgres: fixture.postgres, logger: Logger(label: "faces") { _ in SwiftLogNoOpLogHandler() },
                clock: ContinuousClock(), worker: "worker:1")
            #expect(throws: FacesNotRead.self) { try service.checkLoaded() }
            let running = Task { try await service.run() }
            await service.loaded.wait(upTo: .seconds(60))
            try service.checkLoaded()
            #expect(await service.feed.index.count == 1)
            running.cancel()
            try await running.value
        }
    }

    @Test func `looks at the same time leave the memory as the database`() async throws {
        try await HandlerFixture.with { fixture in
            let feed = fixture.feed()
            try await withThrowingTaskGroup { group in
                for _ in 0..<12 {
                    group.addTask {
                        let user = try await fixture.enrolStranger()
                        _ = try await feed.refresh()
                        try await fixture.postgres.execute("DELETE FROM users WHERE id = \(user)")
                        _ = try await feed.refresh()
                    }
                }
                try await group.waitForAll()
            }
            #expect(await feed.index.count == 0)
        }
    }
}

extension EnrolledFace {
    /// A template of the same person that is not the same.
    fileprivate func blurred() -> EnrolledFace {
        let numbers = encoded().suffix(FaceDescriptor.count * 4)
        let values = stride(from: numbers.startIndex, to: numbers.endIndex, by: 4).map { start in
            Float(bitPattern: numbers[start..<(start + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) })
        }
        let face = FaceDescriptor(normalising: values.enumerated().map { $1 + ($0.isMultiple(of: 2) ? 0.01 : -0.01) })
        return EnrolledFace(left: [face], right: [face], front: [face], isMirrored: isMirrored)
    }
}

extension HandlerFixture {
    /// Stores a random face of an account, which is created.
    @discardableResult
    func enrolStranger() async throws -> UUID {
        let face = FaceDescriptor(normalising: (0..<FaceDescriptor.count).map { _ in Float.random(in: -1...1) })
        let user = UUID()
        let template = EnrolledFace(left: [face], right: [face], front: [face], isMirrored: false)
        try await enrol(user, sealed: try sealer.seal(template.encoded(), context: SealingContext.faceTemplate(userID: user)))
        return user
    }

    /// The entries of the audit log about a duplicate.
    fileprivate func found(_ result: String, _ detail: String, of user: UUID) async throws -> Int {
        try await count(
            "audit_log WHERE action = 'face_duplicate_found' AND result = '\(result)' AND detail = '\(detail)' AND subject_id = '\(user)'")
    }
}
