internal import BlobStore
internal import FCM
internal import FoundationEssentials
internal import HeliographCrypto
internal import Logging
internal import MediaLinks
internal import Storage
internal import WireFormat

/// Sends one claimed delivery and judges the outcome.
struct DeliverySender: Sendable {
    let fcm: FCMClient
    let sealer: Sealer
    let links: MediaLinks
    let pauses: LanePauses
    let retryPolicy: RetryPolicy
    let clock: @Sendable () -> Date

    /// Sends, unless there is a reason not to, and says what is to be written.
    ///
    /// - Parameters:
    ///   - badge: The number on the app's icon; nil leaves it as it is.
    ///   - deadline: When it is too late to begin a send within the delivery's lease.
    func send(
        _ delivery: ClaimedDelivery, badge: Int?, before deadline: ContinuousClock.Instant, logger: Logger
    ) async -> DeliveryVerdict {
        let now = clock()
        if delivery.expiresAt <= now { return settle(delivery, .expired, "expired") }
        // A claim counts as an attempt, so a process that dies while sending cannot go on for ever.
        if delivery.attempt > retryPolicy.attemptsMax { return settle(delivery, .failed, "attempts_exhausted") }
        guard let target = delivery.target else {
            return settle(delivery, .skipped, delivery.skipCode ?? "no_installation")
        }
        if let wait = pauses.remaining(delivery.lane) { return giveBack(delivery, for: wait, code: "lane_paused") }
        if ContinuousClock.now >= deadline {
            return giveBack(delivery, for: retryPolicy.delayMin, code: "lease_too_short")
        }
        let message: FCMMessage
        do {
            message = try build(delivery, target, badge: badge, now: now)
        } catch {
            logger.error("a push cannot be built", metadata: Self.metadata(delivery, ["error": "\(error)"]))
            return settle(delivery, .failed, error is CryptoError ? "sealed_value" : "invalid_message")
        }
        let start = ContinuousClock.now
        let result = await fcm.send(message)
        NotifierMetrics.sent(delivery.kind, result.outcome, took: .now - start)
        if case .quota(let wait) = result.outcome { pauses.pause(delivery.lane, for: wait) }
        return judge(result, delivery, logger: logger)
    }

    private func build(
        _ delivery: ClaimedDelivery, _ target: ClaimedDelivery.Target, badge: Int?, now: Date
    ) throws -> FCMMessage {
        let context = SealingContext.pushInstall(installationKey: target.installationKey)
        let value = String(decoding: try sealer.open(target.valueSealed, context: context), as: UTF8.self)
        return try FCMMessage(
            PushContent(
                delivery.kind, parameters: delivery.parameters, badge: badge, link: { link(to: $0, of: delivery) }),
            to: target.kind == .fid ? .fid(value) : .token(value), expiresAt: delivery.expiresAt, now: now)
    }

    /// Makes the link to a picture, which works for as long as its notification is worth showing.
    private func link(to name: String, of delivery: ClaimedDelivery) -> String? {
        guard let key = try? BlobKey(name) else { return nil }
        return links.link(to: key, until: delivery.expiresAt)
    }

    private func judge(_ result: FCMResult, _ delivery: ClaimedDelivery, logger: Logger) -> DeliveryVerdict {
        let metadata = Self.metadata(delivery, ["code": "\(result.code)"])
        switch result.outcome {
        case .accepted(let name):
            logger.debug("push accepted", metadata: metadata)
            return .settle(DeliverySettlement(id: delivery.id, outcome: .accepted, fcmName: name))
        case .deadTarget:
            logger.info("the installation is gone, its push is skipped", metadata: metadata)
            return settle(delivery, .dead, result.code)
        case .badPayload, .providerAuth, .config, .ourAuth:
            logger.error("push refused", metadata: metadata)
            return settle(delivery, .failed, result.code)
        case .cancelled:
            return .leave
        case .quota, .transient, .notSent, .ambiguous:
            guard let delay = retryPolicy.delay(after: result.outcome, attempt: delivery.attempt) else {
                logger.warning("push failed at the last attempt", metadata: metadata)
                return settle(delivery, .failed, result.code)
            }
            logger.notice("push failed, to be repeated", metadata: metadata)
            return postpone(delivery, for: delay, code: result.code, countsAsAttempt: true)
        }
    }

    /// Has a delivery that was not sent wait, at no cost of its attempts.
    private func giveBack(_ delivery: ClaimedDelivery, for wait: Duration, code: String) -> DeliveryVerdict {
        // Spread a little, so that a lane that opens again does not open with a bang.
        postpone(delivery, for: wait * Double.random(in: 1...1.25), code: code, countsAsAttempt: false)
    }

    /// Has a delivery wait, or ends it when it would be too late afterwards.
    private func postpone(
        _ delivery: ClaimedDelivery, for wait: Duration, code: String, countsAsAttempt: Bool
    ) -> DeliveryVerdict {
        if clock().addingTimeInterval(wait.inSeconds) >= delivery.expiresAt { return settle(delivery, .expired, code) }
        return .postpone(
            DeliveryPostponement(
                id: delivery.id, attempt: delivery.attempt, delay: wait, code: code, countsAsAttempt: countsAsAttempt))
    }

    private func settle(_ delivery: ClaimedDelivery, _ outcome: DeliveryOutcome, _ code: String) -> DeliveryVerdict {
        .settle(DeliverySettlement(id: delivery.id, outcome: outcome, code: code))
    }

    private static func metadata(_ delivery: ClaimedDelivery, _ more: Logger.Metadata) -> Logger.Metadata {
        let own: Logger.Metadata = [
            "delivery_id": "\(delivery.id.uuidString.lowercased())",
            "installation_id": "\(delivery.installID.uuidString.lowercased())",
            "notification_id": "\(delivery.notificationID.uuidString.lowercased())",
            "kind": "\(delivery.kind.rawValue)", "attempt": "\(delivery.attempt)",
        ]
        return own.merging(more) { $1 }
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
