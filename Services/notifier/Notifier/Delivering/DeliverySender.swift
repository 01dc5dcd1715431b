internal import FCM
internal import FoundationEssentials
internal import HeliographCrypto
internal import Logging
internal import Storage
internal import WireFormat

/// Sends one claimed delivery and judges the outcome.
struct DeliverySender: Sendable {
    let fcm: FCMClient
    let sealer: Sealer
    let retryPolicy: RetryPolicy
    let clock: @Sendable () -> Date

    /// Sends, and returns the verdict with FCM's outcome where something was sent.
    func send(_ delivery: ClaimedDelivery, logger: Logger) async -> (verdict: DeliveryVerdict, outcome: FCMOutcome?) {
        let now = clock()
        if delivery.expiresAt <= now { return (settle(delivery, .expired, "expired"), nil) }
        // A claim counts as an attempt, so a process that dies while sending cannot go on for ever.
        if delivery.attempt > retryPolicy.attemptsMax { return (settle(delivery, .failed, "attempts_exhausted"), nil) }
        guard let target = delivery.target else { return (settle(delivery, .skipped, "no_installation"), nil) }
        let message: FCMMessage
        do {
            message = try build(delivery, target, now: now)
        } catch {
            logger.error("a push cannot be built", metadata: Self.metadata(delivery, ["error": "\(error)"]))
            return (settle(delivery, .failed, error is CryptoError ? "sealed_value" : "invalid_message"), nil)
        }
        let result = await fcm.send(message)
        return (judge(result, delivery, logger: logger), result.outcome)
    }

    private func build(
        _ delivery: ClaimedDelivery, _ target: ClaimedDelivery.Target, now: Date
    ) throws -> FCMMessage {
        let context = SealingContext.pushInstall(installationKey: target.installationKey)
        let value = String(decoding: try sealer.open(target.valueSealed, context: context), as: UTF8.self)
        return try FCMMessage(
            PushContent(delivery.kind, parameters: delivery.parameters),
            to: target.kind == .fid ? .fid(value) : .token(value), expiresAt: delivery.expiresAt, now: now)
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
            if clock().addingTimeInterval(delay.inSeconds) >= delivery.expiresAt {
                logger.warning("push failed and would be too late if repeated", metadata: metadata)
                return settle(delivery, .expired, result.code)
            }
            logger.notice("push failed, to be repeated", metadata: metadata)
            return .postpone(delivery.id, by: delay, code: result.code)
        }
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
