internal import EventBus
internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import Storage
internal import Tracing
internal import WireFormat

/// The one way in which a push leaves this service: claimed deliveries come in, are sent as fast as FCM takes them well,
/// and what became of each is written in bulk. No push waits for the answer to another.
///
/// The row of a delivery is the truth: it is claimed before a send, with its batch or by itself, and settled or postponed after
/// it, by compare-and-set. So an event is done when its deliveries are claimed: a process that dies leaves leases that end,
/// which ``DueDeliveries`` finds. A push that was sent and not settled is sent again, and replaces itself on the phone.
struct PushPipeline: Service {
    let postgres: PostgresClient
    let rendering: Rendering
    let sender: DeliverySender
    let queue: SendQueue
    let dispatcher: PushDispatcher
    let writer: OutcomeWriter
    let limits: DeliveryLimits
    let logger: Logger

    /// Waits until a lane has room, claims a batch of its deliveries and has them sent. Claims nothing when there is no room within
    /// ``DeliveryLimits/roomWait``, or when a graceful stop ends the wait.
    ///
    /// - Parameters:
    ///   - count: The most deliveries that `claim` may take.
    ///   - cause: What has them sent; nil when nothing but their time does.
    ///   - claim: Takes the deliveries, for the given lease.
    /// - Returns: How many were claimed; nil when there was no room.
    /// - Throws: `CancellationError`, and what `claim` throws.
    func feed(
        _ lane: Lane, _ count: Int, _ cause: Push.Cause? = nil,
        claiming claim: (Duration) async throws -> [ClaimedDelivery]
    ) async throws -> Int? {
        guard await queue.waitForRoom(lane, for: count, upTo: limits.roomWait) else {
            try Task.checkCancellation()
            return nil
        }
        var pushes: [Push] = []
        defer { queue.add(pushes, to: lane, expected: count) }
        try Task.checkCancellation()
        // Taken before the claim, so that ours is the shorter time.
        let deadline = ContinuousClock.now + limits.claimAge
        let claimed = try await claim(limits.lease)
        guard !claimed.isEmpty else { return 0 }
        let badges = await Badges.count(for: claimed, postgres, logger: logger)
        let contents = rendering.render(claimed)
        let lease = claimed[0].leaseID.map { PushLease(id: $0, count: claimed.count) }
        pushes = Dictionary(grouping: claimed, by: \.notification.id).flatMap { notificationID, deliveries in
            let batch = PushBatch(of: deliveries[0].notification, count: deliveries.count, causedBy: cause)
            let content = contents[notificationID] ?? .failure(RenderingFailure(code: "invalid_message", reason: "not rendered"))
            return deliveries.map {
                Push(delivery: $0, content: content, badge: badges[$0], deadline: deadline, batch: batch, lease: lease)
            }
        }
        return claimed.count
    }

    /// Why nothing of a lane should be claimed now and for how long; nil when it may be.
    func closure(of lane: Lane) -> (wait: Duration, code: String)? {
        if let closure = sender.breakers.closure { return closure }
        return sender.pauses.remaining(lane).map { ($0, "lane_paused") }
    }

    /// Sends until a graceful shutdown, hands back what is not on its way yet, and returns when all outcomes are written.
    ///
    /// Those who feed it must have ended before.
    func run() async throws {
        async let writing: Void = writer.run()
        await withTaskCancellationOrGracefulShutdownHandler {
            await dispatcher.run()
        } onCancelOrGracefulShutdown: {
            writer.add(queue.close().map { ($0, sender.handBack($0)) })
        }
        writer.close()
        await writing
    }
}
