internal import FCM
internal import FoundationEssentials
internal import HeliographCrypto
internal import Logging
internal import Storage
internal import WireFormat

/// Sends one push and judges the outcome.
struct DeliverySender: Sendable {
    let fcm: FCMClient
    let sealer: Sealer
    let pauses: LanePauses
    let breakers: Breakers
    let rates: InstallRates
    let retryPolicy: RetryPolicy
    let logger: Logger
    let clock: @Sendable () -> Date

    /// Sends, unless there is a reason not to, and says what is to be written and what it tells of the pace.
    func send(_ push: Push) async -> (DeliveryVerdict, SendQueue.Pace) {
        let delivery = push.delivery
        if delivery.notification.expiresAt <= clock() { return (settle(delivery, .expired, "expired"), .unknown) }
        // A claim counts as an attempt, so a process that dies while sending cannot go on for ever.
        if delivery.attempt > retryPolicy.attemptsMax {
            return (settle(delivery, .failed, "attempts_exhausted"), .unknown)
        }
        guard let target = delivery.target else { return (skip(delivery), .unknown) }
        let message: FCMMessage
        switch push.content {
        case .success(let content): message = content
        case .failure(let failure):
            logger.error("a push cannot be built", metadata: Self.metadata(delivery, ["error": "\(failure.reason)"]))
            return (settle(delivery, .failed, failure.code), .unknown)
        }
        if let wait = pauses.remaining(delivery.notification.lane) {
            return (giveBack(delivery, for: wait, code: "lane_paused"), .unknown)
        }
        if ContinuousClock.now >= push.deadline {
            return (giveBack(delivery, for: retryPolicy.delayMin, code: "lease_too_short"), .unknown)
        }
        guard let value = open(target, of: delivery) else { return (settle(delivery, .failed, "sealed_value"), .unknown) }
        if let wait = await rates.admit(delivery.installID, delivery.notification.kind) {
            return (giveBack(delivery, for: wait, code: "installation_rate"), .unknown)
        }
        if let (wait, code) = breakers.admit(platform: target.platform) {
            return (giveBack(delivery, for: wait, code: code), .unknown)
        }
        return await send(message, to: value, push, platform: target.platform)
    }

    /// Says of a push that this process will not send any more that another may at once.
    func handBack(_ push: Push) -> DeliveryVerdict {
        postpone(push.delivery, for: .zero, code: "sender_stopped", countsAsAttempt: false)
    }

    private func send(
        _ message: FCMMessage, to target: FCMTarget, _ push: Push, platform: String?
    ) async -> (DeliveryVerdict, SendQueue.Pace) {
        let (start, sentAt) = (ContinuousClock.now, clock())
        let result = await fcm.send(message, to: target, badge: push.badge)
        let time = ContinuousClock.now - start
        NotifierMetrics.sent(push.delivery.notification.kind, result.outcome, took: time)
        if case .quota(let wait) = result.outcome { pauses.pause(push.delivery.notification.lane, for: wait) }
        let hasClosed = breakers.note(result.outcome, platform: platform)
        let pace: SendQueue.Pace =
            switch result.outcome {
            case _ where hasClosed: .restarted
            case .quota, .transient, .notSent, .ambiguous: .pushedBack
            case .cancelled: .unknown
            default: .answered(time)
            }
        return (judge(result, push.delivery, platform: platform, sentAt: sentAt), pace)
    }

    private func open(_ target: ClaimedDelivery.Target, of delivery: ClaimedDelivery) -> FCMTarget? {
        let context = SealingContext.pushInstall(installationKey: target.installationKey)
        do throws(CryptoError) {
            let value = String(decoding: try sealer.open(target.valueSealed, context: context), as: UTF8.self)
            return FCMTarget(value, kind: target.kind)
        } catch {
            logger.error("an installation's value cannot be opened", metadata: Self.metadata(delivery, ["error": "\(error)"]))
            return nil
        }
    }

    private func judge(
        _ result: FCMResult, _ delivery: ClaimedDelivery, platform: String?, sentAt: Date
    ) -> DeliveryVerdict {
        switch result.outcome {
        case .accepted(let name):
            return settle(delivery, .accepted, nil, fcmName: name, sentAt: sentAt)
        case .deadTarget:
            guard breakers.believesDeaths else { return again(result, delivery) }
            log(.info, "the installation is gone, its push is skipped", delivery, result)
            return settle(delivery, .dead, result.code, sentAt: sentAt)
        case .badPayload:
            log(.error, "push refused", delivery, result)
            return settle(delivery, .failed, result.code)
        case .ourAuth, .config:
            log(.error, "FCM refuses this service; pushes wait until it does not", delivery, result)
            return giveBack(delivery, for: Breaker.probeTime, code: result.code)
        case .providerAuth where platform != nil:
            log(.error, "FCM has no access to a platform's push service; pushes to it wait", delivery, result)
            return giveBack(delivery, for: Breaker.probeTime, code: result.code)
        case .cancelled: return .leave
        case .providerAuth, .quota, .transient, .notSent, .ambiguous: return again(result, delivery)
        }
    }

    /// Has a delivery sent again if it still may be.
    private func again(_ result: FCMResult, _ delivery: ClaimedDelivery) -> DeliveryVerdict {
        let age = Duration.seconds(max(0, clock().timeIntervalSince(delivery.createdAt)))
        switch retryPolicy.next(after: result.outcome, attempt: delivery.attempt, age: age) {
        case .after(let delay):
            log(.notice, "push failed, to be repeated", delivery, result)
            return postpone(delivery, for: delay, code: result.code, countsAsAttempt: true)
        case .tooOften:
            log(.warning, "push failed at the last attempt", delivery, result)
            return settle(delivery, .failed, result.code)
        case .tooLate:
            log(.warning, "push failed for so long that it is given up", delivery, result)
            return settle(delivery, .expired, result.code)
        }
    }

    private func skip(_ delivery: ClaimedDelivery) -> DeliveryVerdict {
        let code = delivery.skipCode ?? "no_installation"
        return settle(delivery, code == "expired" ? .expired : .skipped, code)
    }

    /// Has a delivery that was not sent, or was refused for no fault of its own, wait at no cost of its attempts.
    private func giveBack(_ delivery: ClaimedDelivery, for wait: Duration, code: String) -> DeliveryVerdict {
        // Spread a little, so that a lane that opens again does not open with a bang.
        postpone(delivery, for: wait * Double.random(in: 1...1.25), code: code, countsAsAttempt: false)
    }

    /// Has a delivery wait, or ends it when it would be too late afterwards.
    private func postpone(
        _ delivery: ClaimedDelivery, for wait: Duration, code: String, countsAsAttempt: Bool
    ) -> DeliveryVerdict {
        if clock().addingTimeInterval(wait.inSeconds) >= delivery.notification.expiresAt {
            return settle(delivery, .expired, code)
        }
        return .postpone(
            DeliveryPostponement(
                id: delivery.id, attempt: delivery.attempt, delay: wait, code: code, countsAsAttempt: countsAsAttempt))
    }

    private func settle(
        _ delivery: ClaimedDelivery, _ outcome: DeliveryOutcome, _ code: String?, fcmName: String? = nil, sentAt: Date? = nil
    ) -> DeliveryVerdict {
        .settle(
            DeliverySettlement(
                id: delivery.id, outcome: outcome, fcmName: fcmName, code: code, attempt: delivery.attempt,
                generation: delivery.generation, sentAt: sentAt))
    }

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ delivery: ClaimedDelivery, _ result: FCMResult) {
        guard level >= logger.logLevel else { return }
        logger.log(level: level, message, metadata: Self.metadata(delivery, ["code": "\(result.code)"]))
    }

    private static func metadata(_ delivery: ClaimedDelivery, _ more: Logger.Metadata) -> Logger.Metadata {
        let own: Logger.Metadata = [
            "delivery_id": "\(delivery.id.wireString)", "installation_id": "\(delivery.installID.wireString)",
            "notification_id": "\(delivery.notification.id.wireString)",
            "kind": "\(delivery.notification.kind.rawValue)", "attempt": "\(delivery.attempt)",
        ]
        return own.merging(more) { $1 }
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
