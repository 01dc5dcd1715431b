import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

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
            try await owner.execute("INSERT INTO topics (name, owner_id) VALUES ('event:e', \(ada))")
            let name = try #require(TopicName("event:e"))
            #expect(try await TopicRepository(service).find(names: [name]).count == 1)
            #expect(try await TopicPhotoRepository(service).find(id: UUID()) == nil)
            #expect(try await PushInstallRepository(service).find(userIDs: [ada]).isEmpty)
            let notification = NewNotification.make()
            _ = try await NotificationRepository(owner).insert(notification)
            #expect(try await AppNotificationRepository(service).counts(of: notification.id).state == .requested)
            let registered = try await service.register(.make(1), ada)
            let again = try await service.register(.make(1, seenAt: Date(timeIntervalSinceNow: 7200)), ada)
            #expect(again.install.id == registered.install.id)
        }
    }
}
