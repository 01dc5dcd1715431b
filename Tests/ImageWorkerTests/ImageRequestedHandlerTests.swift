import BlobStore
import Foundation
import ImageGenerators
import ImageProbe
import Pictures
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@Suite struct ImageRequestedHandlerTests {
    @Test func `a job stores picture and thumbnail, publishes one push and deletes the upload`() async throws {
        try await WorkerFixture.with(nil) { worker in
            try await worker.running {
                let id = try await worker.submit(template: "pencil-sketch", width: 320, height: 240)
                let job = try await worker.ended(id)
                #expect(job.status == .completed && job.percent == 100)
                let result = try #require(job.result)
                #expect(result.modelUsed == "local" && result.generationTimeMs != nil && result.format == "jpeg")
                #expect(result.width == 320 && result.height == 240 && result.originalWidth > 0 && result.originalHeight > 0)

                let picture = try await worker.blobs.read(try BlobKey(result.key), kind: .media, limit: 1 << 22)
                #expect(picture.count == result.byteCount)
                #expect(try probe(picture).width == 320)
                let image = try #require(result.thumbnailKey)
                let thumbnail = try await worker.blobs.read(try BlobKey(image), kind: .media, limit: 300 << 10)
                let info = try probe(thumbnail)
                #expect(info.format == .jpeg && info.width == 300 && info.height == 200)

                try await eventually("upload and raw picture are gone") {
                    worker.hasOnlyPictures(id)
                }
                try await eventually("the deletion is recorded") { try await worker.jobs.find(id: id)?.inputKey == nil }
                #expect(try await worker.events(ImageCompleted.self, about: id).map(\.status) == [.completed])
                let push = try #require(try await worker.onlyPush(about: id))
                #expect(push.kind == .jobCompleted && push.recipient == .user(worker.user) && push.lane == .urgent)
                #expect(image.hasSuffix(".jpg"))
                #expect(push.content == JobCompletedPush(jobID: id, templateName: "Pencil Sketch", thumbnailKey: image).content)
                let percents = try await worker.events(ImageProgress.self, about: id).map(\.percent)
                #expect(!percents.isEmpty && percents == percents.sorted())
            }
        }
    }

    @Test func `a blocked picture fails at once with a message that is safe to show`() async throws {
        let generator = ScriptedGenerator(.fail(.contentBlocked))
        try await WorkerFixture.with(generator) { worker in
            try await worker.running {
                let id = try await worker.submit()
                let job = try await worker.ended(id)
                #expect(job.failure?.code == .contentBlocked)
                #expect(generator.calls == 1)
                let push = try #require(try await worker.onlyPush(about: id))
                #expect(push.content == JobFailedPush(jobID: id, reason: job.failure?.message ?? "").content)
                #expect(!"\(push)\(job)".contains("secret"))
                try await eventually("its objects are deleted") { worker.blobs(of: id).isEmpty }
            }
        }
    }

    @Test func `an answer without a picture is retried at most twice`() async throws {
        let patient = ScriptedGenerator(.fail(.noImage), .fail(.noImage), .picture)
        try await WorkerFixture.with(patient) { worker in
            try await worker.running {
                let job = try await worker.ended(try await worker.submit())
                #expect(job.status == .completed && job.result?.modelUsed == "scripted-1.5")
                #expect(patient.calls == 3)
            }
        }
        let hopeless = ScriptedGenerator(.fail(.noImage))
        try await WorkerFixture.with(hopeless) { worker in
            try await worker.running {
                let job = try await worker.ended(try await worker.submit())
                #expect(job.failure?.code == .processingFailed)
                #expect(hopeless.calls == 3)
            }
        }
    }

    @Test func `a rate-limited call is retried after the requested wait and counts as free`() async throws {
        let generator = ScriptedGenerator(.fail(.rateLimited(retryAfter: .seconds(2))), .picture)
        try await WorkerFixture.with(generator) { worker in
            try await worker.running {
                let id = try await worker.submit()
                let job = try await worker.ended(id)
                #expect(job.status == .completed && generator.calls == 2)
                let attempts = try await worker.attempts.list(jobID: id)
                #expect(attempts.first?.outcome == .free && attempts.count == 2)
                #expect(attempts[1].startedAt.timeIntervalSince(attempts[0].startedAt) >= 2)
                #expect(try await worker.events(NotificationRequested.self, about: id).count == 1, "no push for a failed attempt")
            }
        }
    }

    @Test func `a quota that resets after the deadline fails the job at once`() async throws {
        let generator = ScriptedGenerator(.fail(.quotaExhausted(until: Date(timeIntervalSinceNow: 3600))))
        try await WorkerFixture.with(generator) { worker in
            try await worker.running {
                let job = try await worker.ended(try await worker.submit())
                #expect(job.failure?.code == .unavailable && generator.calls == 1)
            }
        }
    }

    @Test func `a job that exceeds its deadline fails with timeout`() async throws {
        let generator = ScriptedGenerator(.hang)
        try await WorkerFixture.with(generator) { worker in
            try await worker.running {
                let id = try await worker.submit(processingTime: .seconds(3))
                let job = try await worker.ended(id)
                #expect(job.failure?.code == .timeout)
                try await eventually("the call is cancelled") { generator.cancellations == generator.calls }
                #expect(try await worker.onlyPush(about: id)?.kind == .jobFailed)
            }
        }
    }

    @Test func `a deleted job is stopped, leaves no objects and publishes no events`() async throws {
        let generator = ScriptedGenerator(.hang)
        try await WorkerFixture.with(generator) { worker in
            try await worker.running {
                let id = try await worker.submit()
                try await eventually("the call is under way") { generator.calls == 1 }
                guard case .stopping = try await worker.jobs.delete(id: id, userID: worker.user) else {
                    Issue.record("the job was not in work")
                    return
                }
                try await eventually("the call is cancelled") { generator.cancellations == 1 }
                try await eventually("pictures and row are gone") {
                    let rows = try await worker.postgres.query("SELECT id FROM image_jobs WHERE id = \(id)")
                    return rows.isEmpty && worker.blobs(of: id).isEmpty
                }
                #expect(try await worker.events(NotificationRequested.self, about: id).isEmpty)
                #expect(try await worker.events(ImageCompleted.self, about: id).isEmpty)
            }
        }
    }

    @Test(arguments: FieldFile.allCases) func `a picture as phones write it becomes a result`(file: FieldFile) async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            try await worker.running {
                let job = try await worker.ended(try await worker.submit(try file.bytes()))
                #expect(job.status == .completed)
            }
        }
    }

    @Test func `an invalid upload fails with invalid_image before a call is made`() async throws {
        let portrait = try Photos.portrait()
        let uploads: [[UInt8]] = [
            Array("a text file named .jpg".utf8), Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8),
            Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 400), Array(portrait.prefix(portrait.count / 3)), [0],
        ]
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            try await worker.running {
                for upload in uploads {
                    let job = try await worker.ended(try await worker.submit(upload))
                    #expect(job.failure?.code == .invalidImage)
                }
                #expect(generator.calls == 0)
            }
        }
    }

    @Test func `an invalid picture from the generator fails the job`() async throws {
        let generator = ScriptedGenerator(.garbage)
        try await WorkerFixture.with(generator) { worker in
            try await worker.running {
                let job = try await worker.ended(try await worker.submit())
                #expect(job.failure?.code == .processingFailed && generator.calls == 1)
            }
        }
    }
}

private func probe(_ bytes: [UInt8]) throws -> ImageInfo {
    var probe = ImageProbe()
    try probe.feed(bytes.span.bytes)
    return try probe.finish()
}
