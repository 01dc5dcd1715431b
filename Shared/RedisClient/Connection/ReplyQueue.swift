import NIOCore

/// The commands of one connection that wait for replies, in the order in which they were sent.
///
/// A state machine without input or output: it is told of requests, replies, cancellations and the time, and returns the
/// promises to keep. A request stays in its place until its last reply has come, even when nobody waits for it any more,
/// because replies are matched by order alone.
struct ReplyQueue<Promise> {
    /// One submission: a command, or the commands of a pipeline.
    struct Request {
        /// Grows with each request of a connection.
        let id: UInt64
        let commandCount: Int
        let byteCount: Int
        let deadline: NIODeadline
        /// `nil` when nobody waits any more and the replies are to be dropped.
        var promise: Promise?
        /// The replies so far.
        var replies: [RedisReply] = []
    }

    /// What a reply led to.
    enum Delivery {
        /// The request waits for more replies.
        case incomplete
        /// The request has all its replies.
        case complete(Request)
        /// Nothing waited for a reply.
        case unsolicited
    }

    private var requests = CircularBuffer<Request>()
    /// Since when the server owes something: the last byte from it, or the first request of an empty queue.
    private var quietSince: NIODeadline = .now()

    var isEmpty: Bool { requests.isEmpty }
    var count: Int { requests.count }

    mutating func append(_ request: Request, now: NIODeadline) {
        if requests.isEmpty { quietSince = now }
        requests.append(request)
    }

    /// Notes that the server is alive.
    mutating func receivedBytes(now: NIODeadline) {
        quietSince = now
    }

    mutating func receive(_ reply: RedisReply) -> Delivery {
        guard let head = requests.indices.first else { return .unsolicited }
        let isComplete = requests.modify(head) { request in
            if request.replies.isEmpty { request.replies.reserveCapacity(request.commandCount) }
            request.replies.append(reply)
            return request.replies.count == request.commandCount
        }
        return isComplete ? .complete(requests.removeFirst()) : .incomplete
    }

    /// Gives up waiting for a request, and returns its promise unless it has been kept.
    mutating func abandon(id: UInt64) -> Promise? {
        var low = requests.startIndex
        var remaining = requests.count
        while remaining > 0 {
            let half = remaining / 2
            let middle = requests.index(low, offsetBy: half)
            if requests[middle].id < id {
                low = requests.index(after: middle)
                remaining -= half + 1
            } else {
                remaining = half
            }
        }
        guard low != requests.endIndex, requests[low].id == id else { return nil }
        return takePromise(at: low)
    }

    /// Gives up waiting for every request whose deadline has passed, and returns their promises.
    mutating func abandonOverdue(now: NIODeadline) -> [Promise] {
        var promises: [Promise] = []
        for index in requests.indices where requests[index].promise != nil && requests[index].deadline <= now {
            if let promise = takePromise(at: index) { promises.append(promise) }
        }
        return promises
    }

    /// Whether the server has been silent for `limit` although requests wait.
    func isStalled(now: NIODeadline, limit: TimeAmount) -> Bool {
        !requests.isEmpty && quietSince + limit <= now
    }

    /// When the queue must be looked at next: the earliest deadline or the end of the server's grace.
    func nextCheck(stallLimit: TimeAmount?) -> NIODeadline? {
        guard !requests.isEmpty else { return nil }
        var earliest = stallLimit.map { quietSince + $0 }
        for request in requests where request.promise != nil {
            earliest = min(earliest ?? request.deadline, request.deadline)
        }
        return earliest
    }

    /// Empties the queue.
    mutating func removeAll() -> CircularBuffer<Request> {
        defer { requests = .init() }
        return requests
    }

    private mutating func takePromise(at index: CircularBuffer<Request>.Index) -> Promise? {
        requests.modify(index) { request in
            defer { request.promise = nil }
            return request.promise
        }
    }
}
