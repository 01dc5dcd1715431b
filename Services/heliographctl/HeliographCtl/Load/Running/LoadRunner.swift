internal import Synchronization

/// Lets people come by schedule, whatever becomes of those before them.
struct LoadRunner: Sendable {
    /// How soon before its end a token is exchanged.
    private static let renewalMargin: Duration = .seconds(15 * 60)
    /// How long nothing is exchanged after a failure.
    private static let renewalRest: Duration = .seconds(10)
    /// How long the runner sleeps at most before it looks whether it shall stop.
    private static let napMax: Duration = .milliseconds(200)

    let plan: LoadPlan
    let crew: LoadCrew
    let start: ContinuousClock.Instant
    let stop: LoadStop

    /// Runs to the end of the last thing that was begun, and gives how long was measured.
    func run() async -> Duration {
        await withTaskGroup(of: Void.self) { helpers in
            helpers.addTask { await renewTokens() }
            let measured = await letArrive()
            helpers.cancelAll()
            return measured
        }
    }

    private func letArrive() async -> Duration {
        let end = start + plan.warmUp + plan.duration
        var stoppedAt: ContinuousClock.Instant?
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for arrival in plan.arrivals {
                await sleep(until: start + arrival.offset)
                if stop.isAsked {
                    stoppedAt = .now
                    break
                }
                if running == plan.concurrencyMax {
                    if ContinuousClock.now > end, crew.recorder.underWay == running {
                        crew.recorder.skip(arrival, because: "no room until the end (--concurrency)")
                        continue
                    }
                    // Those that are over are counted off one at a time, so that their results do not pile up.
                    await group.next()
                    running -= 1
                }
                running += 1
                group.addTask { await crew.perform(arrival) }
            }
        }
        return max(.zero, min(stoppedAt ?? end, end) - start - plan.warmUp)
    }

    private func sleep(until instant: ContinuousClock.Instant) async {
        while !stop.isAsked, ContinuousClock.now < instant {
            try? await Task.sleep(until: min(instant, .now + Self.napMax), tolerance: .zero)
        }
    }

    /// Keeps those signed in who order pictures: their tokens last an hour.
    private func renewTokens() async {
        while !Task.isCancelled {
            while let loan = crew.population.owners.holdBack(expiringBefore: .now + Self.renewalMargin) {
                let tokens = loan.account.tokens
                let new = if let tokens { try? await crew.api.refresh(tokens) } else { LoadAccount.Tokens?.none }
                if let new { loan.account.hold(new) }
                crew.population.owners.release(loan)
                // A failure shows in what the account does next; until it is tried again, the others go on.
                try? await Task.sleep(for: new == nil ? Self.renewalRest : .milliseconds(50))
                if Task.isCancelled { return }
            }
            try? await Task.sleep(for: Self.napMax)
        }
    }
}

/// Whether somebody wants the load to end before its time.
final class LoadStop: Sendable {
    private let asked = Atomic(false)

    var isAsked: Bool { asked.load(ordering: .relaxed) }

    /// Returns whether it was the first to ask.
    @discardableResult
    func ask() -> Bool { !asked.exchange(true, ordering: .relaxed) }
}
