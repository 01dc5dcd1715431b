internal import Synchronization

/// Starts the action of each arrival at its scheduled time, whether or not earlier ones have finished.
struct LoadRunner: Sendable {
    /// A request to end the load early.
    final class Stop: Sendable {
        private let requested = Atomic(false)

        var isRequested: Bool { requested.load(ordering: .relaxed) }

        func request() { requested.store(true, ordering: .relaxed) }
    }

    /// Tokens are exchanged this long before they expire.
    private static let renewalMargin: Duration = .seconds(15 * 60)
    /// Pause of the renewal after a failure.
    private static let renewalBackoff: Duration = .seconds(10)
    /// Interval at which sleeps check for a stop, and at which the renewal looks for tokens that expire.
    private static let maxSleep: Duration = .milliseconds(200)

    let plan: LoadPlan
    let driver: LoadDriver
    let start: ContinuousClock.Instant
    let stop = Stop()

    /// Runs until the last started action has finished; returns the measured time.
    func run() async -> Duration {
        await withTaskGroup(of: Void.self) { helpers in
            helpers.addTask { await renewTokens() }
            let measured = await performArrivals()
            helpers.cancelAll()
            return measured
        }
    }

    private func performArrivals() async -> Duration {
        let end = start + plan.warmUp + plan.duration
        var stoppedAt: ContinuousClock.Instant?
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for arrival in plan.arrivals {
                await sleep(until: start + arrival.offset)
                if stop.isRequested {
                    stoppedAt = .now
                    break
                }
                if running == plan.maxConcurrency {
                    if ContinuousClock.now > end, driver.recorder.inFlight == running {
                        driver.recorder.skip(arrival, because: "no room until the end (--concurrency)")
                        continue
                    }
                    // One finished task is taken off for each new one, so that their results do not pile up.
                    await group.next()
                    running -= 1
                }
                running += 1
                group.addTask { await driver.perform(arrival) }
            }
        }
        return max(.zero, min(stoppedAt ?? end, end) - start - plan.warmUp)
    }

    private func sleep(until instant: ContinuousClock.Instant) async {
        while !stop.isRequested, ContinuousClock.now < instant {
            try? await Task.sleep(until: min(instant, .now + Self.maxSleep), tolerance: .zero)
        }
    }

    /// Renews the tokens of the owners, which last an hour, one account at a time, so that the others stay available.
    private func renewTokens() async {
        while !Task.isCancelled {
            var pause = Self.maxSleep
            if let owner = driver.population.owners.lease(expiringBefore: .now + Self.renewalMargin) {
                let new = if let tokens = owner.tokens { try? await driver.api.refresh(tokens) } else { LoadAccount.Tokens?.none }
                if let new { owner.store(new) } else { pause = Self.renewalBackoff }
                // A failure shows in the account's next action; the other accounts go on until the next attempt.
                owner.release()
            }
            try? await Task.sleep(for: pause)
        }
    }
}
