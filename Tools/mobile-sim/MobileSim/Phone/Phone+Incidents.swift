internal import Foundation
internal import MobileClient
internal import Synchronization

/// The incidents of a phone.
extension Phone {
    /// The time that an app has to reach the point of its planned end; an app that waits for an event may not reach it.
    private static let timeToPoint = 15.0

    /// Has the incidents of the plan happen.
    func happen(until end: Double) async {
        await withDiscardingTaskGroup { group in
            for incident in plan.incidents where incident.time < end {
                await wait(until: incident.time)
                guard !Task.isCancelled, world.elapsed < end else { break }
                // A loss of the network and a time in the background overlap with the next incidents.
                group.addTask { await self.happens(incident.event) }
            }
        }
    }

    private func happens(_ incident: PhonePlan.Incident) async {
        switch incident {
        case .kill(let points, let down): await kill(points, down)
        case .offline(let seconds, let isTold): await loseNetwork(seconds, isTold: isTold)
        case .background(let seconds): await goToBackground(seconds)
        case .rotateToken: await rotateToken()
        }
    }

    private func kill(_ points: Int, _ down: Double) async {
        guard let app = state.withLock({ $0.app }) else { return }
        world.measurements.count(.termination)
        app.plan(downTime: down)
        app.incarnation.end(afterPoints: points)
        try? await Task.sleep(for: .seconds(Self.timeToPoint))
        guard !Task.isCancelled else { return }
        app.incarnation.end()
        let place = app.incarnation.endedAt.map { String($0.split(separator: " ").first ?? "") } ?? ""
        world.measurements.change { $0.places[place, default: 0] += 1 }
    }

    private func loseNetwork(_ seconds: Double, isTold: Bool) async {
        world.measurements.count(.lossPeriod)
        note("The network is lost for \(Int(seconds)) s")
        network.lose()
        if isTold { await state.withLock({ $0.app })?.tell { await $0.networkChanged(isOnline: false) } }
        try? await Task.sleep(for: .seconds(seconds))
        network.restore()
        note("The network is back")
        if isTold { await state.withLock({ $0.app })?.tell { await $0.networkChanged(isOnline: true) } }
    }

    private func goToBackground(_ seconds: Double) async {
        guard let app = state.withLock({ $0.app }), !state.withLock({ $0.isEnding }) else { return }
        world.measurements.count(.background)
        note("The app goes to the background")
        state.withLock { $0.isForeground = false }
        await app.tell { await $0.enterBackground() }
        try? await Task.sleep(for: .seconds(seconds))
        // Another process begins in the foreground.
        guard app.incarnation.isAlive else { return }
        state.withLock { $0.isForeground = true }
        note("The app comes to the foreground")
        await app.tell { await $0.enterForeground() }
    }

    private func rotateToken() async {
        guard let token = memory.withLock({ $0.token }), let new = try? await world.emulator.rotate(token) else { return }
        world.measurements.count(.rotation)
        note("The push token is replaced")
        adopt(new)
        await state.withLock({ $0.app })?.tell { await $0.pushTokenChanged(new) }
    }
}
