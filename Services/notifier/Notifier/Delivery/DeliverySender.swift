internal import AsyncPrimitives
internal import FCM
internal import FoundationEssentials
internal import HeliographCrypto
internal import HeliographTracing
internal import Logging
internal import Push
internal import WireFormat

/// Decides on one push at a time, without suspension: whether it is sent, and which verdict its answer leads to.
struct DeliverySender: Sendable {
    let fcm: FCMClient
    let sealer: Sealer
    let pauses: LanePauses
    let breakers: Breakers
    let rates: InstallRates
    let retryPolicy: PushRetryPolicy
    let logger: Logger
    let clock: any MonotonicClock

    /// The next step for a push.
    enum Step {
        /// Nothing is sent: the delivery is settled or deferred.
        case end(DeliveryVerdict)
        /// It is sent.
        case send(FCMSend)
        /// The step is repeated, with `isCounted` set, when this task has ended.
        case wait(Task<Void, Never>)
    }

    /// Prepares a push for sending, unless one of the ``SendGate`` stops it.
    ///
    /// - Parameter isCounted: Whether the rate limit of its installation has already counted it.
    func step(_ push: QueuedPush, at now: Date, isCounted: Bool) -> Step {
        var token: PushTarget?
        for gate in SendGate.allCases {
            if let step = check(gate, push, at: now, isCounted: isCounted, &token) { return step }
        }
        guard case .success(let message) = push.content, let token else { preconditionFailure("a gate let an incomplete push pass") }
        return .send(
            fcm.prepare(
                message, to: token, badge: push.badge, isResend: push.delivery.mayHaveArrived,
                isUrgent: push.delivery.notification.lane == .urgent))
    }

    /// Returns the step of a push that a gate stops; nil when it passes.
    private func check(_ gate: SendGate, _ push: QueuedPush, at now: Date, isCounted: Bool, _ token: inout PushTarget?) -> Step? {
        let delivery = push.delivery
        switch gate {
        case .expiry:
            return delivery.notification.expiresAt <= now ? .end(settle(delivery, .expired, Suppression.expired.rawValue)) : nil
        case .attempts:
            return delivery.attempt > retryPolicy.maxAttempts
                ? .end(settle(delivery, .failed, DeliveryCode.attemptsExhausted.rawValue)) : nil
        case .suppression:
            return delivery.suppression.map { .end(settle(delivery, $0 == .expired ? .expired : .skipped, $0.rawValue)) }
        case .content:
            guard case .failure(let failure) = push.content else { return nil }
            log(.error, "a push cannot be built", push, ["error": "\(failure.reason)"])
            return .end(settle(delivery, .failed, failure.code))
        case .lanePause:
            return pauses.remaining(delivery.notification.lane).map {
                .end(deferUncounted(delivery, for: $0, code: DeliveryCode.lanePaused.rawValue))
            }
        case .claimAge:
            guard clock.now >= push.deadline || push.lease.isRevoked else { return nil }
            return .end(deferDelivery(delivery, for: .zero, code: DeliveryCode.claimTooOld.rawValue, countsAsAttempt: false))
        case .token:
            token = delivery.target.flatMap { open($0, of: push) }
            return token == nil ? .end(settle(delivery, .failed, DeliveryCode.sealedValue.rawValue)) : nil
        case .installationRate:
            switch rates.admit(delivery.installID, delivery.notification.kind, isCounted: isCounted) {
            case .go: return nil
            case .wait(let wait): return .end(deferUncounted(delivery, for: wait, code: DeliveryCode.installationRate.rawValue))
            case .awaitGrant(let task): return .wait(task)
            }
        case .circuitBreaker:
            return breakers.admit(platform: delivery.target?.platform).map { .end(deferUncounted(delivery, for: $0.wait, code: $0.code)) }
        }
    }

    /// Returns the verdict that an answer leads to, and its effect on the pace.
    func evaluate(_ answer: PushAnswer, at now: Date) -> (DeliveryVerdict, SendQueue.Pace) {
        let outcome = answer.result.outcome
        let delivery = answer.push.delivery
        let isBound = delivery.target?.userID != nil
        // A device's own quota does not affect the pace.
        var isDevicesOwn = false
        if case .quota(let wait) = outcome {
            isDevicesOwn = !pauses.refused(delivery.notification.lane, delivery.installID, isBound: isBound, for: wait)
        }
        let hasClosed = breakers.note(outcome, platform: delivery.target?.platform, installID: delivery.installID, isBound: isBound)
        let pace: SendQueue.Pace =
            switch outcome {
            case _ where hasClosed: .restarted
            case _ where isDevicesOwn: .unknown
            case .quota, .transient, .notSent, .ambiguous: .pushedBack
            case .cancelled: .unknown
            default: .answered(answer.time)
            }
        return (verdict(on: answer), pace)
    }

    /// Releases a push that this process will not send, for another to claim at once.
    func release(_ push: QueuedPush) -> DeliveryVerdict {
        deferDelivery(push.delivery, for: .zero, code: DeliveryCode.senderStopped.rawValue, countsAsAttempt: false)
    }

    private func open(_ target: ClaimedDelivery.Target, of push: QueuedPush) -> PushTarget? {
        let context = PushInstall.sealingContext(installationKey: target.installationKey)
        do throws(CryptoError) {
            let value = String(decoding: try sealer.open(target.valueSealed, context: context), as: UTF8.self)
            return PushTarget(value, registeredAs: target.kind)
        } catch {
            log(.error, "an installation's value cannot be opened", push, ["error": "\(error)"])
            return nil
        }
    }

    private func verdict(on answer: PushAnswer) -> DeliveryVerdict {
        let (push, result) = (answer.push, answer.result)
        let delivery = push.delivery
        switch result.outcome {
        case .accepted(let name):
            return settle(delivery, .accepted, nil, fcmName: name, sentAt: answer.sentAt)
        case .deadTarget:
            guard breakers.trustsDeadTokens else { return retry(answer) }
            log(.info, "the installation is gone, its push is skipped", push, result)
            return settle(delivery, .dead, result.code, sentAt: answer.sentAt)
        case .foreignTarget where !breakers.hasCredentials && delivery.target?.userID != nil:
            log(.error, "FCM assigns the installations to another project; all pushes wait until one is accepted", push, result)
            return deferUncounted(delivery, for: Breaker.probeTime, code: result.code)
        case .foreignTarget:
            // Never pruned: with a wrong project in our configuration every token gets this answer.
            log(.warning, "the installation belongs to another Firebase project", push, result)
            return settle(delivery, .failed, result.code)
        case .badPayload:
            log(.error, "push refused", push, result)
            return settle(delivery, .failed, result.code)
        case .ourAuth, .config:
            log(.error, "FCM refuses the credentials of this service; all pushes wait until one is accepted", push, result)
            return deferUncounted(delivery, for: Breaker.probeTime, code: result.code)
        case .providerAuth where breakers.isOpen(platform: delivery.target?.platform):
            log(.error, "FCM has no access to a platform's push service; pushes to that platform wait", push, result)
            return deferUncounted(delivery, for: Breaker.probeTime, code: result.code)
        case .cancelled: return .abandon
        case .providerAuth, .quota, .transient, .notSent, .ambiguous: return retry(answer)
        }
    }

    /// Defers a delivery for another attempt, or settles it when the retry policy allows no further attempt.
    private func retry(_ answer: PushAnswer) -> DeliveryVerdict {
        let (push, result) = (answer.push, answer.result)
        let delivery = push.delivery
        let age = Duration.seconds(max(0, Date().timeIntervalSince(delivery.createdAt)))
        switch retryPolicy.next(after: result.outcome, attempt: delivery.attempt, age: age) {
        case .after(let delay):
            log(.notice, "push failed, will be retried", push, result)
            return deferDelivery(
                delivery, for: delay, code: result.code, countsAsAttempt: true, mayHaveArrived: result.outcome.mayHaveArrived,
                sentAt: answer.sentAt)
        case .attemptsExhausted:
            log(.warning, "push failed at the last attempt", push, result)
            return settle(delivery, .failed, result.code)
        case .tooOld:
            log(.warning, "push is too old to be retried", push, result)
            return settle(delivery, .expired, result.code, sentAt: answer.sentAt)
        }
    }

    /// Defers a delivery that was not sent, or was refused for a reason outside itself, without counting an attempt.
    private func deferUncounted(_ delivery: ClaimedDelivery, for wait: Duration, code: String) -> DeliveryVerdict {
        // Jittered, so that a lane that opens again does not send everything at once.
        deferDelivery(delivery, for: wait * Double.random(in: 1...1.25), code: code, countsAsAttempt: false)
    }

    /// Defers a delivery, or settles it as expired when it would expire before then.
    private func deferDelivery(
        _ delivery: ClaimedDelivery, for wait: Duration, code: String, countsAsAttempt: Bool, mayHaveArrived: Bool = false,
        sentAt: Date? = nil
    ) -> DeliveryVerdict {
        if Date().addingTimeInterval(wait / .seconds(1)) >= delivery.notification.expiresAt {
            return settle(delivery, .expired, code, sentAt: sentAt)
        }
        return .deferDelivery(
            DeliveryDeferral(
                id: delivery.id, attempt: delivery.attempt, delay: wait, code: code, countsAsAttempt: countsAsAttempt,
                mayHaveArrived: mayHaveArrived))
    }

    private func settle(
        _ delivery: ClaimedDelivery, _ outcome: DeliveryOutcome, _ code: String?, fcmName: String? = nil, sentAt: Date? = nil
    ) -> DeliveryVerdict {
        .settle(
            DeliverySettlement(
                id: delivery.id, outcome: outcome, fcmName: fcmName, code: code, attempt: delivery.attempt,
                generation: delivery.generation, sentAt: sentAt))
    }

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ push: QueuedPush, _ result: FCMResult) {
        log(level, message, push, ["code": "\(result.code)"])
    }

    private func log(
        _ level: Logger.Level, _ message: Logger.Message, _ push: QueuedPush, _ more: @autoclosure () -> Logger.Metadata
    ) {
        guard level >= logger.logLevel else { return }
        let delivery = push.delivery
        let own: Logger.Metadata = [
            "delivery_id": "\(delivery.id.wireString)", "installation_id": "\(delivery.installID.wireString)",
            "notification_id": "\(delivery.notification.id.wireString)",
            "kind": "\(delivery.notification.kind.rawValue)", "attempt": "\(delivery.attempt)",
        ]
        // Adds the request id and the trace id to the line.
        WorkContext.$current.withValue(push.batch.work) {
            logger.log(level: level, message, metadata: own.merging(more()) { $1 })
        }
    }
}
