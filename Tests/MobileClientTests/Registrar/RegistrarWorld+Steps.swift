@testable import MobileClient

extension RegistrarWorld {
    typealias Step = (name: String, world: RegistrarWorld)

    /// All that may happen next.
    var steps: [Step] {
        var steps: [Step] = []
        func add(_ name: String, _ change: (inout RegistrarWorld) -> Void) {
            var world = self
            change(&world)
            steps.append((name, world))
        }
        func spend(_ count: WritableKeyPath<Budget, Int>, _ name: String, _ change: (inout RegistrarWorld) -> Void) {
            guard budget[keyPath: count] > 0 else { return }
            add(name) {
                $0.budget[keyPath: count] -= 1
                change(&$0)
            }
        }
        spend(\.crashes, "the process ends") { $0.crash() }
        spend(\.restarts, "the device restarts, and is locked") {
            $0.isLocked = true
            $0.crash()
        }
        if let effect = effects.first {
            if effect == .retire, current != nil, !isLocked {
                spend(\.storeFaults, "the credential cannot be taken out of use") { $0.failToRetire() }
            }
            add(effect.name) { $0.performNext() }
            return steps
        }
        addPerson(spend, add)
        addNetwork(spend, add)
        addPushes(spend, add)
        for lane in waits where lane == .logOut || phone.pause != .claim || pushes.isEmpty || budget.earlyTimers > 0 {
            add("the wait for the \(lane.name) ends") {
                if lane == .registration, $0.phone.pause == .claim, !$0.pushes.isEmpty { $0.budget.earlyTimers -= 1 }
                $0.waits.remove(lane)
                $0.handle(.resumed(lane))
            }
        }
        return steps
    }

    typealias Add = (String, (inout RegistrarWorld) -> Void) -> Void
    typealias Spend = (WritableKeyPath<Budget, Int>, String, (inout RegistrarWorld) -> Void) -> Void

    private func addPerson(_ spend: Spend, _ add: Add) {
        if hasToTell {
            add("the app names its token") {
                $0.hasToTell = false
                $0.handle(.deviceChanged)
            }
        } else {
            spend(\.rotations, "the push service replaces the token") {
                $0.token = "t2"
                $0.handle(.deviceChanged)
            }
            spend(\.switches, "the person turns pushes \(isOff ? "on" : "off")") {
                $0.isOff.toggle()
                $0.handle(.deviceChanged)
            }
        }
        if isLocked {
            add("the device is unlocked, and the app becomes active") {
                $0.isLocked = false
                $0.handle(.credentialsChanged)
            }
        } else {
            spend(\.signIns, "a person signs in") { $0.signIn() }
        }
        if hasToSync {
            add("the app says that a person has signed in") {
                $0.hasToSync = false
                $0.handle(.credentialsChanged)
            }
        }
        if current != nil { spend(\.signOuts, "the person signs out") { $0.handle(.signOut) } }
        if mayRepeat {
            add("the sign-out is repeated") {
                $0.mayRepeat = false
                $0.handle(.signOut)
            }
        }
        spend(\.weeks, "a week passes") {
            $0.day += 7
            $0.handle(.woke(at: $0.date))
        }
    }

    private func addNetwork(_ spend: Spend, _ add: Add) {
        if phone.isOnline {
            spend(\.outages, "the network goes") { $0.handle(.network(isOnline: false)) }
        } else {
            add("the network comes") { $0.handle(.network(isOnline: true)) }
        }
        if let wire {
            if wire.isCancelled, wire.answer != .failed(after: nil) { add("the cancellation takes effect") { $0.endCancelled() } }
            if let answer = wire.answer {
                add("answer \(answer.name) to the \(wire.request.name)") {
                    $0.wire = nil
                    $0.handle(.answered(wire.request, answer))
                }
                spend(\.losses, "the answer is lost") { $0.wire?.answer = .failed(after: nil) }
            } else {
                if phone.isOnline {
                    add("the API handles the \(wire.request.name)") {
                        let answer = $0.serve(wire)
                        $0.wire?.answer = answer
                    }
                }
                if phone.isOnline {
                    spend(\.losses, "the request is lost") { $0.wire?.answer = .failed(after: nil) }
                } else {
                    add("the request fails") { $0.wire?.answer = .failed(after: nil) }
                }
                spend(\.throttles, "the API throttles") { $0.wire?.answer = .failed(after: .seconds(30)) }
                spend(\.refusals, "the API refuses") { $0.wire?.answer = .refused }
            }
        }
        if let ghost {
            add("the API handles a late \(ghost.request.name)") {
                $0.ghost = nil
                _ = $0.serve(ghost)
            }
            add("a late request vanishes") { $0.ghost = nil }
        }
        addLogOut(spend, add)
    }

    private func addPushes(_ spend: Spend, _ add: Add) {
        for push in Set(pushes) {
            add("the push of \(push.handOverID) arrives") {
                $0.pushes.removeAll { $0 == push }
                $0.handle(.nonce(push))
            }
            spend(\.secondPushes, "the push of \(push.handOverID) arrives for the first time") { $0.handle(.nonce(push)) }
            spend(\.lostPushes, "the push of \(push.handOverID) is lost") { $0.pushes.removeAll { $0 == push } }
        }
    }
}
