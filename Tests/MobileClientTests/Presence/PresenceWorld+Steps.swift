@testable import MobileClient

extension PresenceWorld {
    typealias Step = (name: String, world: PresenceWorld)

    /// All that may happen next.
    var steps: [Step] {
        if !effects.isEmpty {
            var world = self
            world.performNext()
            return [("perform", world)]
        }
        var steps: [Step] = []
        func add(_ name: String, _ change: (inout PresenceWorld) -> Void) {
            var world = self
            change(&world)
            steps.append((name, world))
        }
        func spend(_ count: WritableKeyPath<Budget, Int>, _ name: String, _ change: (inout PresenceWorld) -> Void) {
            guard budget[keyPath: count] > 0 else { return }
            add(name) {
                $0.budget[keyPath: count] -= 1
                change(&$0)
            }
        }
        for conversation in ["c1", "c2", nil] where conversation != screen {
            spend(\.screens, "the screen shows \(conversation ?? "none")") {
                $0.screen = conversation
                $0.handle(.shown(conversation))
            }
        }
        spend(\.registrations, "the installation is registered") { $0.handle(.deviceRegistered) }
        if isForeground {
            spend(\.backgrounds, "the app goes to the background") {
                $0.isForeground = false
                $0.handle(.foreground(false))
            }
        } else {
            add("the app comes back") {
                $0.isForeground = true
                $0.handle(.foreground(true))
            }
        }
        if phone.isOnline {
            spend(\.outages, "the network goes") { $0.handle(.network(isOnline: false)) }
        } else {
            add("the network comes") { $0.handle(.network(isOnline: true)) }
        }
        addRequests(spend, add)
        // A renewal comes before the API forgets.
        if lease != nil, wire == nil, !waits.contains(.renewal) { add("the lease lapses") { $0.lease = nil } }
        if waits.contains(.renewal) {
            spend(\.renewals, "the renewal is due") {
                $0.waits.remove(.renewal)
                $0.handle(.resumed(.renewal))
            }
        }
        if waits.contains(.retry) {
            add("the wait after a failure ends") {
                $0.waits.remove(.retry)
                $0.handle(.resumed(.retry(atLeast: nil)))
            }
        }
        // The phone's own time begins later than that of the API.
        if waits.contains(.lapse), lease == nil {
            add("the phone's time for the lease ends") {
                $0.waits.remove(.lapse)
                $0.handle(.resumed(.lapse))
            }
        }
        return steps
    }

    private func addRequests(
        _ spend: (WritableKeyPath<Budget, Int>, String, (inout PresenceWorld) -> Void) -> Void,
        _ add: (String, (inout PresenceWorld) -> Void) -> Void
    ) {
        guard let wire else { return }
        let name = wire.conversation ?? "none"
        if let answer = wire.answer {
            add("the answer about \(name)") {
                $0.wire = nil
                $0.handle(.answered(wire.conversation, answer))
            }
            spend(\.losses, "the answer about \(name) is lost") { $0.wire?.answer = .failed(after: nil) }
            return
        }
        guard phone.isOnline else { return add("the request about \(name) fails") { $0.wire?.answer = .failed(after: nil) } }
        add("the API hears of \(name)") {
            $0.lease = wire.conversation
            $0.wire?.answer = .accepted
        }
        spend(\.losses, "the request about \(name) is lost") { $0.wire?.answer = .failed(after: nil) }
        spend(\.throttles, "the API throttles \(name)") { $0.wire?.answer = .failed(after: .seconds(5)) }
        if wire.conversation != nil { spend(\.refusals, "the API refuses \(name)") { $0.wire?.answer = .refused } }
    }
}
