import Accounts
import AsyncPrimitives
import Foundation
import HeliographCrypto
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import BlobStore
@testable import EventBus
@testable import FaceEngine
@testable import FaceMatchingWorker

/// Tests deliveries during which something fails, ends or changes.
@Suite struct HandlerFailureTests {
    @Test func `a session is given up after two crashes, before the bus gives up its message, and its photos are not read`() async throws {
        #expect(PermanentFailure.maxCrashes < RetryPolicy().maxCrashes)
        try await HandlerFixture.with { fixture in
            let bad = try await fixture.upload(.signUp)
            let session = try await fixture.outcome(of: bad, crashes: PermanentFailure.maxCrashes)
            #expect(session.state == .failed)
            #expect(session.reason == .internal)
            #expect(session.retryable == true)
            #expect(fixture.blobs.readCount == 0)
            #expect(!fixture.hasPhotos(bad))
            #expect(try await Set(fixture.events(about: bad).keys) == ["ekyc.completed", "notification.requested"])

            let once = try await fixture.upload(.signUp)
            #expect(try await fixture.outcome(of: once, crashes: PermanentFailure.maxCrashes - 1).state == .succeeded)
        }
    }

    @Test(arguments: [BlobStoreError.Code.notFound, .damaged, .tooLarge, .invalidKey])
    func `a session whose photos can never be read ends at its first delivery, and the photos are deleted`(
        code: BlobStoreError.Code
    ) async throws {
        try await HandlerFixture.with { fixture in
            fixture.blobs.failReads(code)
            for event in [EkycEvent.signUp, .signIn] {
                let request = try await fixture.upload(event)
                let session = try await fixture.outcome(of: request)
                #expect(session.state == .failed)
                #expect(session.reason == .internal)
                #expect(session.photos.isEmpty)
                #expect(!fixture.hasPhotos(request))
                #expect(try await fixture.events(about: request).count == 2)
            }
            #expect(try await fixture.count("users") == 0)
        }
    }

    @Test func `a session whose photos cannot be read for now is retried, however often, until they can be`() async throws {
        try await HandlerFixture.with { fixture in
            fixture.blobs.failReads(.unavailable)
            let request = try await fixture.upload(.signUp)
            for failures in [0, PermanentFailure.maxDeliveries - 1, PermanentFailure.maxDeliveries] {
                guard case .failed(let error) = try await fixture.deliver(request, failures: failures) else {
                    Issue.record("the delivery after \(failures) failures has not failed")
                    return
                }
                #expect(error.isDependencyUnavailable, "the bus would count a failure")
            }
            #expect(try await fixture.session(request).state == .processing)
            #expect(try await fixture.events(about: request).isEmpty)
            #expect(fixture.hasPhotos(request))
            fixture.blobs.failReads(nil)
            #expect(try await fixture.outcome(of: request, failures: PermanentFailure.maxDeliveries).state == .succeeded)
        }
    }

    @Test func `a session stays decided when its photos cannot be deleted, and its row lists them for the sweeper`() async throws {
        try await HandlerFixture.with { fixture in
            fixture.blobs.failDeletions(.unavailable)
            let request = try await fixture.upload(.signUp)
            #expect(try await fixture.outcome(of: request).state == .succeeded)
            #expect(fixture.hasPhotos(request))
            let leftovers = try await fixture.sessions.leftoverPhotos(gracePeriod: .zero, limit: 10)
            #expect(leftovers.map(\.sessionID) == [request.session])
            #expect(leftovers.first?.photos.count == 9)

            let (reads, events) = (fixture.blobs.readCount, try await fixture.events(about: request))
            guard case .duplicate = try await fixture.deliver(request, crashes: 1) else {
                Issue.record("the message is handled again")
                return
            }
            #expect(fixture.blobs.readCount == reads)
            #expect(try await fixture.events(about: request) == events)
        }
    }

    @Test func `every sign-in whose stored face is unusable ends like one for an unknown e-mail`() async throws {
        try await HandlerFixture.with { fixture in
            let face = FaceDescriptor(normalising: Array(repeating: 1, count: FaceDescriptor.count))
            let template = EnrolledFace(left: [face], right: [face], front: [face], isMirrored: false).encoded()
            var outdated = template
            outdated[4] = 99
            let stranger = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText()))
            func sealed(_ bytes: [UInt8], by sealer: Sealer? = nil, for user: UUID) throws -> [UInt8] {
                try (sealer ?? fixture.sealer).seal(bytes, context: SealingContext.faceTemplate(userID: user))
            }
            func changed(_ bytes: [UInt8]) -> [UInt8] { bytes.dropLast() + [bytes[bytes.count - 1] ^ 1] }
            let stored: [(name: String, (UUID) throws -> [UInt8]?)] = [
                ("no account", { _ in nil }),
                ("not sealed", { _ in [1, 2, 3] }),
                ("sealed with an unknown key", { try sealed(template, by: stranger, for: $0) }),
                ("sealed for another account", { _ in try sealed(template, for: UUID()) }),
                ("changed", { changed(try sealed(template, for: $0)) }),
                ("no template", { try sealed([1, 2, 3], for: $0) }),
                ("of another pipeline", { try sealed(outdated, for: $0) }),
                ("another person's", { try sealed(template, for: $0) }),
            ]
            for (name, face) in stored {
                let (user, before) = (UUID(), fixture.blobs.readCount)
                if let face = try face(user) { try await fixture.enrol(user, sealed: face) }
                let request = try await fixture.upload(.signIn, user: user)
                let session = try await fixture.outcome(of: request)
                #expect(session.state == .failed, "\(name)")
                #expect(session.reason == .noMatch, "\(name)")
                #expect(session.attemptsLeft == 4, "\(name)")
                #expect(fixture.blobs.readCount - before == 3, "\(name)")
                let events = try await fixture.events(about: request)
                #expect(Set(events.keys) == ["ekyc.completed", "notification.requested"], "\(name)")
                let pseudonym = fixture.pseudonyms.id(of: request.session).wireString
                #expect(events["notification.requested"]?.contains(pseudonym) == true, "\(name)")
                #expect(events.values.allSatisfy { !$0.contains(user.wireString) }, "\(name)")
            }
        }
    }

    @Test func `a session that ended while its photos were examined keeps that end, and nothing is enrolled`() async throws {
        try await HandlerFixture.with { fixture in
            let ends: [(SessionState, @Sendable (UUID) async throws -> Bool)] = [
                (.succeeded, { try await fixture.sessions.complete(id: $0, outcome: .succeeded) }),
                (.failed, { try await fixture.sessions.complete(id: $0, outcome: .failed(.noFace)) }),
                (
                    .expired,
                    {
                        try await fixture.postgres.execute("UPDATE sessions SET deadline_at = now() WHERE id = \($0)")
                        return try await fixture.sessions.expireOverdue(limit: 1).map(\.id) == [$0]
                    }
                ),
            ]
            for (state, end) in ends {
                let request = try await fixture.upload(.signUp)
                fixture.blobs.duringFirstRead {
                    let hasEnded = try await end(request.session)
                    #expect(hasEnded, "\(state)")
                }
                #expect(try await fixture.outcome(of: request).state == state)
                #expect(try await fixture.events(about: request).isEmpty, "whoever ended it publishes: \(state)")
                #expect(!fixture.hasPhotos(request), "\(state)")
            }
            for table in ["users", "face_templates", "face_photo_hashes"] {
                #expect(try await fixture.count(table) == 0, "\(table)")
            }
        }
    }

    @Test func `a session that has ended, or is deleted, before its delivery is left alone`() async throws {
        try await HandlerFixture.with { fixture in
            let (ended, deleted) = (try await fixture.upload(.signIn), try await fixture.upload(.signIn))
            #expect(try await fixture.sessions.complete(id: ended.session, outcome: .failed(.noMatch)))
            try await fixture.postgres.execute("DELETE FROM sessions WHERE id = \(deleted.session)")
            for request in [ended, deleted] {
                guard case .handled = try await fixture.deliver(request) else { Issue.record("not handled"); return }
                #expect(try await fixture.events(about: request).isEmpty)
            }
            #expect(fixture.blobs.readCount == 0)
        }
    }

    @Test func `a sign-up does not replace a face that another worker has stored in the meantime`() async throws {
        try await HandlerFixture.with { fixture in
            let user = UUID()
            let request = try await fixture.upload(.signUp, user: user)
            fixture.blobs.duringFirstRead { try await fixture.enrol(user, sealed: [7]) }
            #expect(try await fixture.outcome(of: request).reason == .alreadyEnrolled)
            #expect(try await FaceTemplateRepository(fixture.postgres).find(userID: user)?.templateSealed == [7])
            let push = try #require(try await fixture.events(about: request)["notification.requested"])
            #expect(!push.contains(user.wireString), "the account is not the sender's")
        }
    }

    @Test func `a cancelled delivery changes nothing, and the next one decides the session`() async throws {
        try await HandlerFixture.with { fixture in
            let (request, reading) = (try await fixture.upload(.signUp), AsyncLatch())
            fixture.blobs.duringFirstRead {
                reading.open()
                await AsyncLatch().wait()
            }
            let delivery = Task { try await fixture.deliver(request) }
            await reading.wait()
            delivery.cancel()
            guard case .failed = try await delivery.value else { Issue.record("the delivery has not failed"); return }
            #expect(try await fixture.session(request).state == .processing)
            #expect(try await fixture.events(about: request).isEmpty)
            #expect(fixture.hasPhotos(request))
            #expect(try await fixture.outcome(of: request, crashes: 1).state == .succeeded)
            #expect(!fixture.hasPhotos(request))
        }
    }
}
