import Foundation
import Testing

@testable import MobileClient

/// Who gets which updates, and what counts as acknowledged.
@Suite(.timeLimit(.minutes(5))) struct JobReaderTests {
    /// An order that has ended and has no reader yet.
    private func ended() async throws -> (bench: JobBench, id: UUID) {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        var reader = bench.tracker.updates(of: id).makeAsyncIterator()
        _ = await reader.next()
        await bench.tracker.pushArrived(jobID: "job-1")
        await until { await bench.tracker.entries[id]?.latest?.outcome != nil }
        return (bench, id)
    }

    @Test func `several readers get the end, each once`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        let outcomes = await withTaskGroup { group in
            for _ in 0..<5 { group.addTask { await bench.outcome(of: id) } }
            await bench.api.set("completed")
            await bench.poll()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 5 && outcomes.allSatisfy { $0?.isCompleted == true })
    }

    @Test func `a reader that comes after the end gets it, also when it was acknowledged`() async throws {
        let (bench, id) = try await ended()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(bench.files.isEmpty)
        #expect(await bench.outcome(of: id)?.isCompleted == true)
    }

    @Test func `the stream of an unknown order is empty`() async throws {
        let bench = try JobBench()
        for await update in bench.tracker.updates(of: UUID()) { Issue.record("\(update)") }
        await until { await bench.tracker.mailboxes.isEmpty }
    }

    @Test func `an end that a reader works on is not acknowledged until it comes back`() async throws {
        let (bench, id) = try await ended()
        var reader = bench.tracker.updates(of: id).makeAsyncIterator()
        #expect(await reader.next()?.outcome?.isCompleted == true)
        #expect(try await bench.store.task(id)?.isFinished == true)
        #expect(await reader.next() == nil)
        #expect(try await bench.store.task(id) == nil)
    }

    @Test func `a reader that goes with the end has acknowledged it`() async throws {
        let (bench, id) = try await ended()
        for await update in bench.tracker.updates(of: id) where update.outcome != nil { break }
        try await until { try await bench.store.task(id) == nil }
        #expect(bench.files.isEmpty)
    }

    @Test func `a reader that goes before the end acknowledges nothing`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        for await _ in bench.tracker.updates(of: id) { break }
        await until { await bench.tracker.mailboxes.isEmpty }
        await bench.api.set("completed")
        await bench.poll()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
    }

    @Test func `a reader whose task is cancelled leaves`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        let updates = bench.tracker.updates(of: id)
        let reader = Task { for await _ in updates {} }
        await until { await bench.tracker.mailboxes.values.contains { $0.waiter != nil } }
        reader.cancel()
        await reader.value
        await until { await bench.tracker.mailboxes.isEmpty }
        #expect(await bench.tracker.readers.isEmpty)
    }

    @Test func `a reader of all orders gets each end once, and the ends of before the launch`() async throws {
        let bench = try JobBench()
        let first = try await bench.orderAndAccept()
        let second = try await bench.order()
        await bench.time.waitForSleepers(4)
        await bench.api.set("completed")
        let next = try bench.relaunch()
        var outcomes: [UUID: Int] = [:]
        for await update in next.tracker.updates(of: nil) {
            if update.outcome != nil { outcomes[update.id, default: 0] += 1 }
            if outcomes.count == 2 { break }
        }
        #expect(outcomes == [first: 1, second: 1])
        try await until { try await next.store.tasks().isEmpty }
    }

    @Test func `a slow reader gets the last state of each order and no other`() async throws {
        var mailbox = JobMailbox(order: nil)
        let (first, second) = (UUID(), UUID())
        func update(_ id: UUID, _ state: JobUpdate.State) -> JobUpdate { JobUpdate(id: id, jobID: nil, state: state) }
        mailbox.put(update(first, .ordering))
        mailbox.put(update(second, .ordering))
        mailbox.put(update(first, .inBackground))
        mailbox.put(update(first, .ended(.expired)))
        #expect(mailbox.take() == update(first, .ended(.expired)))
        #expect(mailbox.take() == update(second, .ordering))
        #expect(mailbox.take() == nil)
        #expect(mailbox.takeHanded() == [first])
        #expect(mailbox.takeHanded() == [])
    }

    @Test func `an end can be acknowledged without a reader`() async throws {
        let (bench, id) = try await ended()
        await bench.tracker.acknowledge(id)
        #expect(bench.files.isEmpty)
    }

    @Test func `a tracker that goes leaves no task behind`() async throws {
        let bench = try JobBench()
        var tracker: JobTracker? = JobTracker(
            store: bench.store, sender: bench.sender, time: bench.time.source, order: JobBench.orders(from: bench.store, by: bench.sender))
        await bench.api.fail("POST", FakeImagesAPI.unreachable)
        await tracker?.begin(try await bench.keep())
        // The deadline, and the next attempt.
        await bench.time.waitForSleepers(2)
        weak let reference = tracker
        tracker = nil
        await until { reference == nil }
        await until { bench.time.sleeperCount == 0 }
    }

    @Test func `an acknowledgement before the end has no effect`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.tracker.acknowledge(id)
        await bench.api.set("completed")
        await bench.poll()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
    }
}
