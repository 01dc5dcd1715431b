import NIOCore

/// The commands of one connection that wait for replies, in the order in which they were sent.
///
/// A state machine without input or output: the caller reports requests, replies, cancellations and the time, and completes the
/// promises that it returns. A request stays in its place until its last reply has arrived, even when no task waits for it any more,
/// because replies are matched by order alone.
struct ReplyQueue<Promise> {
    /// One command, or the commands of a pipeline.
    struct Request {
        /// Grows with each request of a connection.
        let id: UInt64
        let commandCount: Int
        let byteCount: Int
        let deadline: NIODeadline
        /// `nil` when no task waits any more and the replies are to be dropped.
        var promise: Promise?
        /// The replies so far.
        var replies: [RedisReply] = []
    }

    /// The effect of a reply.
    enum Delivery {
        /// The request waits for more replies.
        case incomplete
        /// The request has all its replies.
        case complete(Request)
        /// No request was waiting for a reply.
        case unsolicited
    }

    private var requests = CircularBuffer<Request>()
    /// The start of the server's silence: its last byte, or the first request that was added to an empty queue.
    private var quietSince: NIODeadline = .now()

    var isEmpty: Bool { requests.isEmpty }
    var count: Int { requests.count }

    mutating func append(_ request: Request, now: NIODeadline) {
        precondition(request.commandCount > 0, "a request without commands would never be complete")
        precondition(requests.last.map { $0.id < request.id } ?? true, "ids grow, because abandon(id:) searches by halves")
        if requests.isEmpty { quietSince = now }
        requests.append(request)
    }

    /// Records that bytes of the server arrived.
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

    /// Abandons a request, and returns its promise unless the request is complete or already abandoned.
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

    /// Abandons every request whose deadline has passed, and returns their promises.
    mutating func abandonOverdue(now: NIODeadline) -> [Promise] {
        var promises: [Promise] = []
        for index in requests.indices where requests[index].promise != nil && requests[index].deadline <= now {
            if let promise = takePromise(at: index) { promises.append(promise) }
        }
        return promises
    }

    /// Whether the server has been silent for `limit` while requests wait.
    func isStalled(now: NIODeadline, limit: TimeAmount) -> Bool {
        !requests.isEmpty && quietSince + limit <= now
    }

    /// The time at which the queue must be checked next: the earliest deadline, or the time at which a silent server counts as stalled.
    func nextCheck(stallLimit: TimeAmount?) -> NIODeadline? {
        guard !requests.isEmpty else { return nil }
        var earliest = stallLimit.map { quietSince + $0 }
        for request in requests where request.promise != nil {
            earliest = min(earliest ?? request.deadline, request.deadline)
        }
        return earliest
    }

    /// Empties the queue and returns its requests.
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
