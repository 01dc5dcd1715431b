import Accounts
import FCMEmulator
import Foundation
import HeliographCrypto
import JSON
import Pictures
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@Suite struct PictureTests {
    @Test func `a completed job is pushed with a link to its thumbnail and the number of unseen pictures`() async throws {
        try await NotifierFixture.with { fixture in
            let user = try await fixture.user()
            var jobs: [UUID] = []
            for _ in 0..<3 { jobs.append(try await fixture.completeJob(of: user)) }
            try await ImageJobRepository(fixture.postgres).markSeen(id: jobs[0])

            let token = fixture.emulator.mintToken()
            let key = "images/\(jobs[1].wireString)/thumbnail-1.jpg"
            let addressed = try await fixture.address(
                [token], of: user, content: .sample(.jobCompleted, jobID: jobs[1], thumbnailKey: key))
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            let aps = message["apns"]?["payload"]?["aps"]
            #expect(aps?["badge"]?.integer == 2 && aps?["mutable-content"]?.integer == 1)
            #expect(aps?["category"]?.string == "IMAGE_COMPLETE")
            let image = try #require(message["apns"]?["fcm_options"]?["image"]?.string)
            #expect(image.hasPrefix("https://api.example.org/media/images/\(jobs[1].wireString)/thumbnail-1.jpg"))
            #expect(image.contains("&sig=") && message["android"]?["notification"]?["image"]?.string == image)
            #expect(message["apns"]?["headers"]?["apns-collapse-id"]?.string == "job:\(jobs[1].wireString)")
        }
    }

    @Test func `a failed job is pushed without a picture, with its public reason`() async throws {
        try await NotifierFixture.with { fixture in
            let user = try await fixture.user()
            let token = fixture.emulator.mintToken()
            let job = try await fixture.completeJob(of: user)
            try await ImageJobRepository(fixture.postgres).markSeen(id: job)
            let addressed = try await fixture.address(
                [token], of: user, content: .sample(.jobFailed, jobID: job, text: "It took too long. Please try again."))
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            #expect(message["notification"]?["body"]?.string == "Unable to process your image: It took too long. Please try again.")
            #expect(message["apns"]?["payload"]?["aps"]?["badge"]?.integer == 0)
            #expect(message["apns"]?["fcm_options"] == nil)
        }
    }
}

@Suite struct GoneJobTests {
    @Test(arguments: [NotificationKind.jobCompleted, .jobFailed])
    func `a job that its user deleted gets no push`(kind: NotificationKind) async throws {
        try await expectGone(kind) { fixture, job, user in
            _ = try await ImageJobRepository(fixture.postgres).delete(id: job, userID: user)
        }
    }

    @Test func `an expired job gets no push`() async throws {
        try await expectGone(.jobCompleted) { fixture, job, _ in
            try await fixture.postgres.execute("UPDATE image_jobs SET expires_at = now() WHERE id = \(job)")
        }
    }

    private func expectGone(
        _ kind: NotificationKind, after change: (NotifierFixture, _ job: UUID, _ user: UUID) async throws -> Void
    ) async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let user = try await fixture.user()
            let job = try await fixture.completeJob(of: user)
            let addressed = try await fixture.address(
                [fixture.emulator.mintToken()], of: user, content: .sample(kind, jobID: job))
            try await change(fixture, job, user)
            try await fixture.withNotifier {
                let delivery = try #require(try await fixture.settled(addressed).first)
                #expect(delivery.state == .skipped && delivery.code == "job_gone")
            }
            #expect(fixture.emulator.statistics.sends == 0)
        }
    }
}

extension NotifierFixture {
    /// Makes a user.
    func user() async throws -> UUID {
        try await postgres.makeUser(emailLookup: SHA256.hash("u"), emailSealed: [1]).id
    }

    /// Brings a job to its completion, as image-worker does.
    func completeJob(of user: UUID) async throws -> UUID {
        let jobs = ImageJobRepository(postgres)
        let id = try await jobs.insert(NewImageJob(userID: user, templateID: "oil-painting", inputKey: "images/x/input")).id
        _ = try await jobs.begin(id: id)
        let result = ImageJob.Result(
            key: "images/x/result.jpg", format: "jpeg", byteCount: 9, width: 3, height: 2, originalWidth: 3, originalHeight: 2,
            thumbnailKey: nil, modelUsed: "local", generationTimeMs: 1)
        #expect(try await jobs.complete(id: id, result: result))
        return id
    }
}
