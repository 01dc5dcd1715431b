import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import Accounts
@testable import Pictures
@testable import Schema
@testable import Topics

/// What no test of a service reaches with its role: the reports of erasures, and the reads that confirm a write whose answer was lost.
struct RoleStatementTests {
    @Test(arguments: ServiceRole.allCases) func `every service reads what to erase, and reports it`(role: ServiceRole) async throws {
        try await withStorage(as: role) { owner, service in
            let erasure = try await owner.beginErasure(of: try await owner.user())
            let erasures = ErasureRepository(service)
            #expect(try await erasures.find(id: erasure.id) == erasure)
            try await erasures.add(2, of: "rows", to: erasure.id, by: role.rawValue)
            try await erasures.finish(erasure.id, by: role.rawValue)
            let reports = try await owner.query("SELECT FROM erasure_reports WHERE finished_at IS NOT NULL AND counts = '{\"rows\": 2}'")
            #expect(reports.count == 1)
        }
    }

    @Test func `face-matching-worker erases a face with its pairs and hashes`() async throws {
        try await withStorage(as: .faceMatchingWorker) { owner, service in
            let (ada, ben) = (try await owner.user(1), try await owner.user(2))
            for user in [ada, ben] {
                try await FaceTemplateRepository(owner).upsert(
                    NewFaceTemplate(userID: user, modelID: "m", pipelineVersion: 1, templateSealed: [1]))
            }
            _ = try await FaceDuplicateRepository(owner).add([ben], of: ada)
            try await owner.execute("INSERT INTO face_photo_hashes (user_id, file_hash, is_accepted) VALUES (\(ada), \(hash(1)), true)")
            let erasure = try await owner.beginErasure(of: ada)
            let faces = FaceErasureRepository(service)
            #expect(try await faces.deleteTemplate(for: erasure) == 1)
            #expect(try await faces.deleteDuplicates(for: erasure) == 1)
            #expect(try await faces.deletePhotoHashes(for: erasure) == 1)
        }
    }

    @Test func `image-worker erases the jobs and the photos of a user`() async throws {
        try await withStorage(as: .imageWorker) { owner, service in
            let (ada, job, topic) = (try await owner.user(), UUID(), UUID())
            try await ImageJobRepository(owner).insert(NewImageJob(id: job, userID: ada, templateID: "vintage", inputKey: "k"))
            try await owner.execute("INSERT INTO image_job_reads (job_id, trigger) VALUES (\(job), 'poll')")
            try await owner.execute("INSERT INTO topics (id, name, owner_id) VALUES (\(topic), 'event:e', \(ada))")
            try await owner.execute(
                """
                INSERT INTO topic_photos (id, topic_id, uploader_id, photo_key, expires_at)
                VALUES (gen_random_uuid(), \(topic), \(ada), 'k', now() + interval '1 day')
                """)
            let pictures = PictureErasureRepository(service)
            try await pictures.hideJobs(of: ada)
            _ = try await pictures.hidePhotos(of: ada)
            #expect(try await pictures.jobs(of: ada, limit: 9) == [job])
            #expect(try await service.withTransaction { try await PictureErasureRepository($0).deleteJob(job) } == 1)
            #expect(try await pictures.photos(of: ada, limit: 9).isEmpty, "its worker may be about to write the thumbnail")
            #expect(try await pictures.hasPictures(of: ada))
            #expect(try await owner.query("SELECT FROM topic_photos WHERE topic_id IS NULL AND state = 'failed'").count == 1)
            #expect(try await owner.query("SELECT FROM image_job_reads").isEmpty)
        }
    }

    @Test func `identity-api confirms its writes, and counts what apps and users have`() async throws {
        try await withStorage(as: .identityAPI) { owner, service in
            let ada = try await owner.user()
            #expect(try await TopicPhotoRepository(service).find(id: UUID()) == nil)
            let notification = NewNotification.make()
            _ = try await NotificationRepository(owner).insert(notification)
            #expect(try await AppNotificationRepository(service).counts(of: notification.id).state == .requested)
            let registered = try await service.register(.make(1), ada)
            let again = try await service.register(.make(1, seenAt: Date(timeIntervalSinceNow: 7200)), ada)
            #expect(again.install.id == registered.install.id)
            let later = Date(timeIntervalSinceNow: 7200 + PushInstallLimits.seenInterval / .seconds(1) * 2)
            let claimed = try await service.withTransaction {
                try await PushInstallRepository($0).claim(.make(1, seenAt: later), userID: ada)
            }
            #expect(claimed?.install.lastSeenAt ?? .distantPast > again.install.lastSeenAt)
        }
    }

    @Test func `identity-api keeps a request of more than 15 seconds, and refuses a topic too many`() async throws {
        try await withStorage(as: .identityAPI) { owner, service in
            let ada = try await owner.user()
            let requests = IdempotencyRepository(service)
            let scope = IdempotencyScope(userID: ada, route: "r", key: "k")
            guard case .began(let held) = try await requests.begin(scope, lease: .seconds(60)) else {
                Issue.record("the request has not begun")
                return
            }
            #expect(try await requests.renew(held, lease: .seconds(60)))
            try await owner.execute(
                """
                INSERT INTO topics (name, owner_id)
                SELECT 'event:' || n, \(ada) FROM generate_series(1, \(TopicLimits.maxOwned)) n
                """)
            let name = try #require(TopicName("event:one-too-many"))
            let change = try await service.withTransaction { try await TopicRepository($0).add(ada, to: name, by: ada) }
            #expect(change == .limitReached)
        }
    }

    @Test func `identity-api finds the push of a receipt that names an event`() async throws {
        try await withStorage(as: .identityAPI) { owner, service in
            let (ada, name) = (try await owner.user(), try #require(TopicName("event:party")))
            try await owner.execute(
                """
                INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, expires_at)
                VALUES (gen_random_uuid(), 'k', 'new_photos', 'topic', \(name.text), 'normal', now() + interval '1 hour')
                """)
            let receipts = [Receipt(subject: .event(name), event: .opened, at: Date(timeIntervalSinceNow: 0))]
            let recorded = try await ReceiptRepository(service).record(receipts, userID: ada, installationKey: nil)
            #expect(recorded.isEmpty, "the push went to nobody's phone")
        }
    }

    @Test func `identity-api takes a redeemed sign-in from its installation once the push is settled`() async throws {
        try await withStorage(as: .identityAPI) { owner, service in
            let new = NewSession.make()
            try await SessionRepository(owner).insert(new)
            #expect(try await SessionRepository(owner).complete(id: new.id, outcome: .succeeded))
            let push = NewNotification.make(dedupeKey: SignInPush.dedupeKey(about: new.id), recipient: .session(new.id))
            _ = try await NotificationRepository(owner).insert(push)
            _ = try await NotificationRepository(owner).markSkipped([push.id], reason: .expired)
            #expect(try await SessionRepository(service).releaseInstall(ofRedeemed: new.id) == [new.installID])
        }
    }

    @Test func `face-matching-worker finds the installation that gets no push about its own new face`() async throws {
        try await withStorage(as: .faceMatchingWorker) { owner, service in
            let ada = try await owner.user()
            let install = try await owner.register(.make(1), ada).install
            #expect(try await PushInstallRepository(service).boundID(of: install.installationKey, userID: ada) == install.id)
        }
    }
}
