import AsyncPrimitives
import Logging
import Metrics

extension StreamConsumer {
    /// The most retries that are appended in one step.
    private static var maxResumed: Int { 128 }
    /// The idle time after which a consumer without pending entries is deleted from its group.
    private static var deadConsumerAge: Duration { .seconds(600) }

    /// Appends the group's retries when they are due. Every consumer does it, so that the group does not depend on a single consumer.
    func resumeRetries() async {
        while !stopping.isOpen, !Task.isCancelled {
            var pause = configuration.retryPoll
            do throws(EventBusError) {
                let resumed = try await transport.resumeRetries(of: scope.address.group, limit: Self.maxResumed)
                scope.metrics.resumed.increment(by: resumed.count)
                if let next = resumed.nextIn { pause = min(pause, max(next, .milliseconds(10))) }
            } catch {
                scope.logger.debug("Resuming retries failed; trying again later", metadata: ["error": "\(error)"])
            }
            await retryAdded.wait(upTo: pause.jittered(), clock: scope.clock)
        }
    }

    /// Trims the stream, deletes dead consumers and old dead letters, records the group's metrics, and watches the other tasks: returns an
    /// error when a task makes no progress any more.
    func maintain() async -> EventBusError? {
        let clock = scope.clock
        var lastRetirement = clock.now
        var lastLook: ContinuousClock.Instant?
        while !workEnded.isOpen, !Task.isCancelled {
            await workEnded.wait(upTo: min(configuration.maintenanceInterval, configuration.stallLimit / 4).jittered(), clock: clock)
            if let stall = findStall() { return stall }
            guard !stopping.isOpen else { continue }
            if lastLook.map({ clock.now - $0 >= configuration.deadLetterInterval }) ?? true {
                lastLook = clock.now
                await maintainDeadLetters()
            }
            do throws(EventBusError) {
                let trimmed = try await transport.trim(scope.stream, ungroupedAge: nil)
                scope.metrics.trimmed.increment(by: trimmed)
                scope.metrics.record(try await transport.status(of: scope.address.group))
                if clock.now - lastRetirement > .seconds(60) {
                    lastRetirement = clock.now
                    try await transport.retireIdle(of: scope.address.group, idle: Self.deadConsumerAge)
                }
            } catch {
                scope.logger.debug("Maintenance of the group failed; retrying later", metadata: ["error": "\(error)"])
            }
        }
        return nil
    }

    /// Deletes the group's dead letters that are too old, and records the others. Does not depend on Redis.
    private func maintainDeadLetters() async {
        do throws(EventBusError) {
            let expired = try await deadLetters.deleteOlder(than: configuration.deadLetterAge, of: scope.address.group)
            scope.metrics.deadExpired.increment(by: expired)
            if expired > 0 {
                scope.logger.warning("Dead letters were deleted, no operator took them", metadata: ["count": "\(expired)"])
            }
            scope.metrics.record(try await deadLetters.backlog(of: scope.address.group))
        } catch {
            scope.logger.debug("Maintenance of the dead letters failed; retrying later", metadata: ["error": "\(error)"])
        }
    }

    private func findStall() -> EventBusError? {
        let now = scope.clock.now
        let silence = stopping.isOpen ? .zero : progress.silence()
        scope.metrics.silence.record(silence / .seconds(1))
        // Recorded here, because a consumer without room does not read.
        scope.metrics.inHand.record(state.heldCount)
        let ignored = (slots + [suspectSlot]).map { $0.check(now, limit: configuration.handlerTimeout) }.max() ?? .zero
        let limit = configuration.stallLimit
        guard silence > limit || ignored > limit else { return nil }
        let who = silence > limit ? "the read loop" : "a handler that was cancelled"
        scope.logger.critical("A consumer does not work any more", metadata: ["who": "\(who)"])
        return EventBusError(.stalled, "\(who) of \(scope.stream) has made no step for \(limit)")
    }
}
