internal import AsyncPrimitives
internal import EventBus
internal import Logging
internal import PostgresClient
internal import Push
internal import ServiceLifecycle
internal import Tracing
internal import WireFormat

/// The only path by which pushes leave this service: it takes claimed deliveries, sends them as fast as FCM accepts them, and writes
/// their outcomes in bulk. No push waits for the answer to another.
///
/// The row of a delivery is authoritative: it is claimed before a send, with its page or by itself, and settled or deferred after
/// it, by compare-and-set. So an event is handled when its deliveries are claimed: a process that dies leaves leases that end, because
/// its ``LeaseKeeper`` renews them no more, which ``DueDeliveries`` finds. A push that was sent and not settled is sent again, and
/// replaces itself on the phone.
struct PushPipeline: Service {
    let postgres: PostgresClient
    let rendering: Rendering
    let sender: DeliverySender
    let queue: SendQueue
    let dispatcher: PushDispatcher
    let writer: OutcomeWriter
    let keeper: LeaseKeeper
    let limits: DeliveryLimits
    let logger: Logger
    let clock: any MonotonicClock

    /// Waits until a lane has room, claims a batch of its deliveries and has them sent. Claims nothing when there is no room within
    /// ``DeliveryLimits/roomWait``, or when a graceful stop ends the wait.
    ///
    /// - Parameters:
    ///   - count: The most deliveries that `claim` may take.
    ///   - cause: The event that causes the sends; nil when their due time causes them.
    ///   - claim: Claims the deliveries for the given lease.
    /// - Returns: The number of claimed deliveries; nil when there was no room.
    /// - Throws: `CancellationError`, and the errors of `claim`.
    func feed(
        _ lane: Lane, _ count: Int, _ cause: QueuedPush.Cause? = nil,
        claiming claim: (Duration) async throws -> [ClaimedDelivery]
    ) async throws -> Int? {
        guard await queue.waitForRoom(lane, for: count, upTo: limits.roomWait) else {
            try Task.checkCancellation()
            return nil
        }
        var pushes: [QueuedPush] = []
        defer { queue.add(pushes, to: lane, expected: count) }
        try Task.checkCancellation()
        // Measured before the claim, so that our deadlines pass before the lease does.
        let start = clock.now
        let claimed = try await claim(limits.lease)
        guard !claimed.isEmpty else { return 0 }
        let badges = await Badges.count(for: claimed, postgres, logger: logger)
        let leases = keeper.add(claimed, claimedAt: start)
        pushes.reserveCapacity(claimed.count)
        // The deliveries of a notification share one object. Those of a page follow each other; deferred ones of several notifications
        // are claimed mixed.
        let runs = claimed.runs(where: { $0.notification === $1.notification })
        for own in Dictionary(grouping: runs, by: { ObjectIdentifier(claimed[$0.lowerBound].notification) }).values {
            let notification = claimed[own[0].lowerBound].notification
            let content = rendering.render(notification)
            let batch = PushBatch(of: notification, count: own.reduce(0) { $0 + $1.count }, causedBy: cause)
            for index in own.joined() {
                pushes.append(
                    QueuedPush(
                        delivery: claimed[index], content: content, badge: badges[claimed[index]], deadline: start + limits.claimAge,
                        lease: leases[index], batch: batch))
            }
        }
        return claimed.count
    }

    /// Returns how long no delivery of a lane should be claimed, and the code of the reason; nil when claims are allowed.
    func suspension(of lane: Lane) -> (wait: Duration, code: String)? {
        if let suspension = sender.breakers.suspension { return suspension }
        return sender.pauses.remaining(lane).map { ($0, DeliveryCode.lanePaused.rawValue) }
    }

    /// Sends until a graceful shutdown, releases the pushes that are not in flight, and returns when all outcomes are written.
    ///
    /// The callers of ``feed(_:_:_:claiming:)`` must have ended before.
    func run() async throws {
        async let writing: Void = writer.run()
        async let keeping: Void = keeper.run()
        await withTaskCancellationOrGracefulShutdownHandler {
            await dispatcher.run()
        } onCancelOrGracefulShutdown: {
            writer.add(queue.close().map { OutcomeWriter.Entry(push: $0, verdict: sender.release($0)) })
        }
        writer.close()
        await writing
        keeper.close()
        await keeping
    }
}
