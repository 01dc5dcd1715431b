import Accounts
import FoundationEssentials
import Pictures
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

struct ImageJobRepositoryTests {
    @Test(.storage) func `the initial templates have everything a generator needs`() async throws {
        let templates = try await ImageTemplateRepository(client).list()
        #expect(
            templates.map(\.id) == ["anime-style", "pencil-sketch", "watercolor", "oil-painting", "pop-art", "vintage"])
        #expect(templates.allSatisfy { $0.style == $0.id && $0.prompt.count > 150 && !$0.negativePrompt.isEmpty })
        #expect(templates[0].name == "Anime Style")
    }

    @Test(.storage, arguments: [ImageTemplate.State.draft, .disabled])
    func `a template that is not published is not offered, but still found`(_ state: ImageTemplate.State) async throws {
        try await client.execute("UPDATE image_templates SET state = \(state.rawValue) WHERE id = 'vintage'")
        let templates = ImageTemplateRepository(client)
        #expect(try await templates.list().count == 5)
        #expect(try await templates.find(id: "vintage", publishedOnly: true) == nil)
        #expect(try await templates.find(id: "vintage")?.name == "Vintage Photo")
        #expect(try await templates.find(id: "no-such-style") == nil)
    }

    @Test func `the instructions end with the negative prompt, if there is one`() async throws {
        let template = ImageTemplate(id: "a", name: "A", description: "", style: "vintage", prompt: "Paint it.")
        #expect(template.instructions == "Paint it.")
        let careful = ImageTemplate(
            id: "a", name: "A", description: "", style: "vintage", prompt: "Paint it.", negativePrompt: "text, logos")
        #expect(careful.instructions == "Paint it.\n\nAvoid: text, logos")
    }

    @Test(.storage) func `one of two writers that read the same template writes it`() async throws {
        let templates = ImageTemplateRepository(client)
        let read = try #require(try await templates.find(id: "vintage"))
        func renamed(_ name: String) -> ImageTemplate {
            ImageTemplate(
                id: read.id, name: name, description: read.description, preview: read.preview, style: read.style,
                prompt: read.prompt, negativePrompt: read.negativePrompt, state: .disabled, position: read.position)
        }
        #expect(try await templates.write(renamed("First"), over: read))
        #expect(try await !templates.write(renamed("Second"), over: read))
        #expect(try await templates.find(id: "vintage") == renamed("First"))
        #expect(try await !templates.write(renamed("Third"), over: nil))
        #expect(try await templates.all().count == 6)
        #expect(try await templates.list().count == 5)
    }

    @Test(.storage) func `an inserted job is read back whole`() async throws {
        let user = try await client.user()
        var new = NewImageJob.make(user)
        new.width = 640
        new.height = 480
        new.quality = "high"
        new.requestID = "r-1"
        new.traceparent = "00-aa-bb-01"
        let inserted = try await jobs.insert(new)
        let job = try #require(try await jobs.find(id: new.id))
        #expect(job == inserted)
        #expect(job.status == .pending)
        #expect(job.percent == 0)
        #expect(job.userID == user)
        #expect(job.templateID == "vintage" && job.templateName == "Vintage Photo")
        #expect(job.width == 640)
        #expect(job.height == 480)
        #expect(job.quality == "high")
        #expect(job.inputKey == new.inputKey)
        #expect(job.requestID == "r-1")
        #expect(job.traceparent == "00-aa-bb-01")
        #expect(job.result == nil)
        #expect(job.failure == nil)
        #expect(job.completedAt == nil)
        #expect(job.deletedAt == nil)
        #expect(job.deadlineAt.timeIntervalSince(job.createdAt) == 300)
        #expect(job.expiresAt.timeIntervalSince(job.createdAt) == 86400)
    }

    @Test(.storage) func `a job of an unknown template or user is refused`() async throws {
        let user = try await client.user()
        var new = NewImageJob.make(user)
        new.templateID = "no-such-style"
        await #expect(throws: PostgresError.self) { try await jobs.insert(new) }
        await #expect(throws: PostgresError.self) { try await jobs.insert(.make(UUID())) }
    }

    @Test(.storage) func `paging returns every job once, even when others with the same time are inserted`() async throws {
        let user = try await client.user()
        var expected: Set<UUID> = []
        for _ in 0..<25 { expected.insert(try await jobs.insert(.make(user)).id) }
        // All with the same time, so that only the ids order them.
        try await client.execute("UPDATE image_jobs SET created_at = '2026-01-02 03:04:05.678901+00'")
        var seen: [UUID] = []
        var cursor: ListCursor?
        repeat {
            let page = try await jobs.list(userID: user, before: cursor ?? .start, limit: 4)
            seen += page.map(\.id)
            cursor = try page.last.map { try #require(ListCursor(ListCursor(after: $0).text)) }
            let id = try await jobs.insert(.make(user)).id
            try await client.execute(
                "UPDATE image_jobs SET created_at = '2026-01-02 03:04:05.678901+00' WHERE id = \(id)")
        } while cursor != nil
        #expect(Set(seen).count == seen.count, "a job was shown twice")
        #expect(expected.isSubset(of: seen), "a job was not shown")
    }

    @Test(arguments: ["", ".", "abc", "zz.zz", "-1.\(UUID().uuidString)", "1.2.3", "zzzzzzzzzzzzz.\(UUID().uuidString)"])
    func `an invalid cursor is refused`(text: String) {
        #expect(ListCursor(text) == nil)
    }

    @Test(.storage) func `the queue position counts the pending jobs before`() async throws {
        let user = try await client.user()
        var ids: [UUID] = []
        for _ in 0..<3 { ids.append(try await jobs.insert(.make(user)).id) }
        #expect(try await jobs.queuePosition(id: ids[2]) == 3)
        _ = try await jobs.begin(id: ids[0])
        #expect(try await jobs.queuePosition(id: ids[0]) == nil)
        #expect(try await jobs.queuePosition(id: ids[2]) == 2)
        _ = try await jobs.delete(id: ids[1], userID: user)
        #expect(try await jobs.queuePosition(id: ids[2]) == 1)
    }

    @Test(.storage) func `the median covers the completed jobs of the template only`() async throws {
        let user = try await client.user()
        #expect(try await jobs.medianSeconds(templateID: "vintage") == nil)
        for seconds in [3, 7, 40] {
            let id = try await jobs.insert(.make(user)).id
            try await jobs.finish(id)
            try await client.execute(
                "UPDATE image_jobs SET created_at = completed_at - make_interval(secs => \(Double(seconds))) WHERE id = \(id)")
        }
        #expect(try await jobs.medianSeconds(templateID: "vintage") == 7)
        #expect(try await jobs.medianSeconds(templateID: "pop-art") == nil)
    }

    @Test(.storage) func `outcomes count for the badge until they are fetched`() async throws {
        let user = try await client.user()
        var ids: [UUID] = []
        for _ in 0..<4 { ids.append(try await jobs.insert(.make(user)).id) }
        try await jobs.finish(ids[0])
        try await jobs.finish(ids[1])
        let worker = UUID()
        _ = try await jobs.begin(id: ids[2], worker: worker)
        #expect(try await jobs.fail(id: ids[2], worker: worker, .test))
        #expect(try await UnreadRepository(client).totals(userIDs: [user, UUID()]) == [user: 3])
        try await jobs.markSeen(id: ids[0])
        try await jobs.markSeen(id: ids[0])
        try await jobs.markSeen(id: ids[3])
        #expect(try await UnreadRepository(client).totals(userIDs: [user]) == [user: 2])
        _ = try await jobs.delete(id: ids[1], userID: user)
        #expect(try await UnreadRepository(client).totals(userIDs: [user]) == [user: 1])
        #expect(try await jobs.find(id: ids[3])?.seenAt == nil, "an open job has no outcome to see")
    }
}
