import FoundationEssentials
import Pictures
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct ImageJobStateTests {
    @Test(.storage) func `a job can be claimed again until it has ended`() async throws {
        let user = try await client.user()
        let id = try await jobs.insert(.make(user)).id
        let first = try #require(try await jobs.begin(id: id))
        try await client.execute("UPDATE image_jobs SET lease_until = now()")
        let second = try #require(try await jobs.begin(id: id))
        #expect(first.status == .processing && first.startedAt == second.startedAt)
        #expect(try await jobs.complete(id: id, result: .test))
        #expect(try await jobs.begin(id: id) == nil)
        #expect(try await jobs.begin(id: UUID()) == nil)
        let job = try #require(try await jobs.find(id: id))
        #expect(job.status == .completed)
        #expect(job.percent == 100)
        #expect(job.result == .test)
        #expect(job.completedAt != nil)
    }

    @Test(.storage) func `one of many workers holds a job, until it releases it or its lease ends`() async throws {
        let user = try await client.user()
        let id = try await jobs.insert(.make(user)).id
        let workers = (0..<8).map { _ in UUID() }
        let taken = try await race(8) { try await jobs.begin(id: id, worker: workers[$0]) != nil ? workers[$0] : nil }
        let winner = try #require(taken.compactMap { $0 }.first)
        #expect(taken.count { $0 != nil } == 1)
        let other = UUID()
        let begin = ContinuousClock.now
        #expect(try await jobs.renewLease(id: id, worker: winner))
        #expect(try await !jobs.renewLease(id: id, worker: other))
        let left = try #require(try await jobs.leaseLeft(id: id))
        #expect(left > ImageJobRepository.lease - .seconds(1) - (.now - begin))
        try await jobs.release(id: id, worker: other)
        #expect(try await jobs.begin(id: id, worker: other) == nil)
        try await jobs.release(id: id, worker: winner)
        #expect(try await jobs.leaseLeft(id: id) == nil)
        #expect(try await jobs.begin(id: id, worker: other) != nil)
        try await client.execute("UPDATE image_jobs SET lease_until = now()")
        #expect(try await jobs.begin(id: id, worker: winner) != nil)
        #expect(try await !jobs.renewLease(id: id, worker: other), "another worker has claimed it")
    }

    @Test(.storage) func `a worker that lost the lease cannot fail the job, but can complete it`() async throws {
        let user = try await client.user()
        let (late, next) = (UUID(), UUID())
        let id = try await jobs.insert(.make(user)).id
        #expect(try await !jobs.fail(id: id, worker: late, .test), "no worker holds it yet")
        _ = try #require(try await jobs.begin(id: id, worker: late))
        try await client.execute("UPDATE image_jobs SET lease_until = now()")
        _ = try #require(try await jobs.begin(id: id, worker: next))
        #expect(try await !jobs.fail(id: id, worker: late, .test))
        #expect(try await jobs.renewLease(id: id, worker: next))
        #expect(try await jobs.complete(id: id, result: .test))
        #expect(try await !jobs.fail(id: id, worker: next, .test))
    }

    @Test(.storage) func `exactly one of concurrent completion, failure, deadline and deletion takes effect`() async throws {
        let user = try await client.user()
        for round in 0..<12 {
            let (id, worker) = (try await jobs.insert(.make(user)).id, UUID())
            _ = try #require(try await jobs.begin(id: id, worker: worker))
            try await client.execute("UPDATE image_jobs SET deadline_at = now() WHERE id = \(id)")
            let ended = try await race(8) { index in
                switch (index + round) % 4 {
                case 0: try await jobs.complete(id: id, result: .test)
                case 1: try await jobs.fail(id: id, worker: worker, .test)
                case 2: try await jobs.failOverdue(.test, limit: 5).map(\.id) == [id]
                default: if case .stopping = try await jobs.delete(id: id, userID: user) { true } else { false }
                }
            }
            // A deletion after the end of the job is not a deletion of an open job, so exactly one result is `true`.
            #expect(ended.count { $0 } == 1)
            let before = try await client.imageJobRow(id)
            #expect(try await !jobs.complete(id: id, result: .test))
            #expect(try await !jobs.fail(id: id, worker: worker, .test))
            #expect(try await jobs.failOverdue(.test, limit: 5).isEmpty)
            #expect(try await client.imageJobRow(id) == before, "a terminal state is final")
        }
    }

    @Test(.storage) func `progress never decreases, and is refused once the job has ended`() async throws {
        let user = try await client.user()
        let id = try await jobs.insert(.make(user)).id
        #expect(try await jobs.progress(id: id, percent: 5) == nil, "no worker holds it yet")
        let worker = UUID()
        _ = try await jobs.begin(id: id, worker: worker)
        _ = try await race(20) { index in try await jobs.progress(id: id, percent: index * 4) }
        #expect(try await jobs.find(id: id)?.percent == 76)
        #expect(try await jobs.progress(id: id, percent: 10) == 76)
        #expect(try await jobs.progress(id: id, percent: 100) == 99)
        #expect(try await jobs.renewLease(id: id, worker: worker))
        #expect(try await jobs.complete(id: id, result: .test))
        #expect(try await jobs.progress(id: id, percent: 99) == nil)
        #expect(try await !jobs.renewLease(id: id, worker: worker))
    }

    @Test(.storage) func `only overdue jobs fail, and only once`() async throws {
        let user = try await client.user()
        var overdue: Set<UUID> = []
        for index in 0..<20 {
            let id = try await jobs.insert(.make(user)).id
            if index.isMultiple(of: 2) { _ = try await jobs.begin(id: id) }
            try await client.execute("UPDATE image_jobs SET deadline_at = now() WHERE id = \(id)")
            overdue.insert(id)
        }
        let open = try await jobs.insert(.make(user)).id
        let failed = try await race(6) { _ in try await jobs.failOverdue(.test, limit: 5) }.flatMap { $0 }
        let rest = try await jobs.failOverdue(.test, limit: 100)
        #expect((failed + rest).count == 20 && Set((failed + rest).map(\.id)) == overdue)
        #expect((failed + rest).allSatisfy { $0.status == .failed && $0.failure == .test })
        #expect(try await jobs.find(id: open)?.status == .pending)
    }

    @Test(.storage) func `an overdue job cannot be claimed`() async throws {
        let user = try await client.user()
        var new = NewImageJob.make(user)
        new.processingTime = .seconds(-1)
        let id = try await jobs.insert(new).id
        #expect(try await jobs.begin(id: id) == nil)
    }

    @Test(.storage) func `a deleted job is invisible at once, in any state`() async throws {
        let user = try await client.user()
        let pending = try await jobs.insert(.make(user)).id
        let processing = try await jobs.insert(.make(user)).id
        let completed = try await jobs.insert(.make(user)).id
        _ = try await jobs.begin(id: processing)
        try await jobs.finish(completed)
        for id in [pending, processing, completed] {
            #expect(try await jobs.delete(id: id, userID: UUID()) == .forbidden)
            let outcome = try await jobs.delete(id: id, userID: user)
            switch outcome {
            case .deleted(let job): #expect(job.id == id && id != processing)
            case .stopping(let job): #expect(job.id == id && id == processing)
            case .forbidden, .notFound: Issue.record("\(outcome)")
            }
            #expect(try await jobs.delete(id: id, userID: user) == .notFound)
            #expect(try await jobs.find(id: id) == nil)
        }
        #expect(try await jobs.begin(id: pending) == nil)
        #expect(try await !jobs.complete(id: processing, result: .test))
        #expect(try await jobs.list(userID: user, limit: 10).isEmpty)
    }

    @Test(.storage) func `deleted and expired jobs are removed, a job in processing only after its deadline`() async throws {
        let user = try await client.user()
        var ids: [UUID] = []
        for _ in 0..<4 { ids.append(try await jobs.insert(.make(user)).id) }
        _ = try await jobs.begin(id: ids[1])
        for id in ids[0...1] { _ = try await jobs.delete(id: id, userID: user) }
        #expect(try await jobs.removable(limit: 10).isEmpty, "left to the caller that deleted it")
        try await client.execute("UPDATE image_jobs SET deleted_at = now() - interval '2 minutes' WHERE deleted_at IS NOT NULL")
        try await client.execute("UPDATE image_jobs SET expires_at = now() WHERE id = \(ids[2])")
        #expect(try await Set(jobs.removable(limit: 10)) == [ids[0], ids[2]])
        try await client.execute("UPDATE image_jobs SET deadline_at = now() WHERE id = \(ids[1])")
        let removable = try await jobs.removable(limit: 10)
        #expect(Set(removable) == Set(ids[0...2]))
        #expect(try await jobs.remove(ids) == 3)
        #expect(try await jobs.list(userID: user, limit: 10).map(\.id) == [ids[3]])
    }

    @Test(.storage) func `the upload of a job that has timed out is found at once`() async throws {
        var new = NewImageJob.make(try await client.user())
        new.processingTime = .seconds(-1)
        let id = try await jobs.insert(new).id
        #expect(try await jobs.failOverdue(ImageJob.Failure(code: .timeout, message: "late"), limit: 10).map(\.id) == [id])
        #expect(try await jobs.leftoverInputs(gracePeriod: .seconds(60), limit: 10).map(\.id) == [id])
    }

    @Test(.storage) func `the upload that a crashed worker left is found`() async throws {
        let user = try await client.user()
        let id = try await jobs.insert(.make(user)).id
        _ = try await jobs.insert(.make(user))
        try await jobs.finish(id)
        #expect(try await jobs.leftoverInputs(gracePeriod: .seconds(60), limit: 10).isEmpty)
        #expect(try await jobs.leftoverInputs(gracePeriod: .zero, limit: 10).map(\.id) == [id])
        try await jobs.inputsDeleted([id])
        #expect(try await jobs.leftoverInputs(gracePeriod: .zero, limit: 10).isEmpty)
    }

    @Test(.storage) func `the database refuses an inconsistent job`() async throws {
        let user = try await client.user()
        let id = try await jobs.insert(.make(user)).id
        let lies = [
            "status = 'completed', percent = 100, started_at = now(), completed_at = now()", "completed_at = now()",
            "status = 'failed', completed_at = now()", "status = 'processing'", "status = 'done'", "percent = 101",
            "error_code = 'timeout'", "result_key = 'images/a'", "paid_attempts = 1",
        ]
        for lie in lies {
            let error = await #expect(throws: PostgresError.self) {
                try await client.execute("UPDATE image_jobs SET \(unescaped: lie) WHERE id = \(id)")
            }
            #expect(error?.sqlState == "23514", "\(lie)")
        }
    }
}
