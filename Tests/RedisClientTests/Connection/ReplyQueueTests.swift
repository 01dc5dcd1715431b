import NIOCore
import Testing

@testable import RedisClient

@Suite struct ReplyQueueTests {
    private typealias Queue = ReplyQueue<String>

    @Test func `Replies go to requests in order`() throws {
        var queue = makeQueue(commandCounts: [1, 2])
        #expect(promise(queue.receive(try reply(1))) == "r1")
        guard case .incomplete = queue.receive(try reply(2)) else { return #expect(Bool(false), "one of two") }
        guard case .complete(let request) = queue.receive(try reply(3)) else { return #expect(Bool(false), "two of two") }
        #expect(request.promise == "r2")
        #expect(request.replies.map(\.integer) == [2, 3])
        #expect(queue.isEmpty)
    }

    @Test func `A reply without a request is unsolicited`() throws {
        var queue = Queue()
        guard case .unsolicited = queue.receive(try reply(1)) else { return #expect(Bool(false)) }
    }

    @Test func `An abandoned request keeps its place and returns its promise once`() throws {
        var queue = makeQueue(commandCounts: [1, 1, 1])
        #expect(queue.abandon(id: 2) == "r2")
        #expect(queue.abandon(id: 2) == nil)
        #expect(queue.abandon(id: 9) == nil)
        #expect(promise(queue.receive(try reply(1))) == "r1")
        #expect(promise(queue.receive(try reply(2))) == nil)
        #expect(promise(queue.receive(try reply(3))) == "r3")
    }

    @Test func `Every id is found, also after the ring has wrapped around`() throws {
        var queue = Queue()
        var next: UInt64 = 1
        for _ in 0..<50 {
            for _ in 0..<7 {
                queue.append(request(next), now: .uptimeNanoseconds(0))
                next += 3  // ids grow, not always by one
            }
            for _ in 0..<6 { _ = queue.receive(try reply(0)) }
        }
        let first = next - 3 * UInt64(queue.count)
        for id in stride(from: first, to: next, by: 3) {
            #expect(queue.abandon(id: id + 1) == nil)
            #expect(queue.abandon(id: id) == "r\(id)")
        }
    }

    @Test func `Only overdue requests are abandoned, at any position`() {
        var queue = Queue()
        for (id, deadline) in [(1, 50), (2, 10), (3, 30)] as [(UInt64, UInt64)] {
            queue.append(request(id, deadline: .uptimeNanoseconds(deadline)), now: .uptimeNanoseconds(0))
        }
        #expect(queue.nextCheck(stallLimit: nil) == .uptimeNanoseconds(10))
        #expect(queue.abandonOverdue(now: .uptimeNanoseconds(30)) == ["r2", "r3"])
        #expect(queue.nextCheck(stallLimit: nil) == .uptimeNanoseconds(50))
        #expect(queue.count == 3)
    }

    @Test func `A silent server counts as stalled only while a request waits`() throws {
        var queue = Queue()
        let limit = TimeAmount.nanoseconds(100)
        #expect(!queue.isStalled(now: .uptimeNanoseconds(1_000_000), limit: limit))
        queue.append(request(1), now: .uptimeNanoseconds(1000))
        #expect(!queue.isStalled(now: .uptimeNanoseconds(1099), limit: limit))
        #expect(queue.isStalled(now: .uptimeNanoseconds(1100), limit: limit))
        queue.receivedBytes(now: .uptimeNanoseconds(1099))
        #expect(!queue.isStalled(now: .uptimeNanoseconds(1150), limit: limit))
        #expect(queue.nextCheck(stallLimit: limit) == .uptimeNanoseconds(1199))
    }

    // MARK: Helpers

    private func makeQueue(commandCounts: [Int]) -> Queue {
        var queue = Queue()
        for (index, count) in commandCounts.enumerated() {
            queue.append(request(UInt64(index + 1), commands: count), now: .uptimeNanoseconds(0))
        }
        return queue
    }

    private func request(_ id: UInt64, commands: Int = 1, deadline: NIODeadline = .distantFuture) -> Queue.Request {
        .init(id: id, commandCount: commands, byteCount: 10, deadline: deadline, promise: "r\(id)")
    }

    private func reply(_ number: Int) throws -> RedisReply {
        let decoder = RESPDecoder()
        var replies: [RedisReply] = []
        try Array(":\(number)\r\n".utf8).withUnsafeBytes { try decoder.decode($0, into: &replies) }
        return replies[0]
    }

    private func promise(_ delivery: Queue.Delivery) -> String? {
        if case .complete(let request) = delivery { request.promise } else { "not complete" }
    }
}
