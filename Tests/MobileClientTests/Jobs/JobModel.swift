@testable import MobileClient

/// All orders of what can happen to one order; a kind of model bounds how often.
protocol JobModel: CheckedModel where World == JobWorld {}

extension JobModel {
    static func steps(from world: JobWorld) -> [(name: String, world: JobWorld)] {
        var steps: [(name: String, world: JobWorld)] = []
        func add(_ name: String, if isPossible: Bool = true, _ change: (inout JobWorld) -> Void) {
            guard isPossible else { return }
            var next = world
            change(&next)
            steps.append((name, next))
        }
        add("the process ends", if: world.state != nil && world.crashes > 0) { next in
            next.crashes -= 1
            next.state = nil
            next.effects = []
            // What was sent may still arrive; its answer has no reader.
            next.orphans += next.messages.filter { [.order, .read, .delete].contains($0) }
            next.orphans.sort { "\($0)" < "\($1)" }
            next.messages = []
        }
        guard world.effects.isEmpty else {
            add("\(world.effects[0])") { $0.perform() }
            return steps
        }
        network(world, add)
        server(world, add)
        guard let state = world.state else {
            // A push wakes the app too.
            add("launch", if: world.disk != nil) { $0.start(isLaunch: true) }
            return steps
        }
        device(world, state, add)
        return steps
    }

    typealias Add = (_ name: String, _ isPossible: Bool, _ change: (inout JobWorld) -> Void) -> Void

    private static func network(_ world: JobWorld, _ add: Add) {
        for (index, message) in world.messages.enumerated() {
            let request: JobReducer.Request =
                switch message {
                case .order, .ordered: .order
                case .read, .state: .read
                case .delete, .deleted: .delete
                }
            switch message {
            case .order, .read, .delete:
                add("the API handles \(message)", true) { $0.messages[index] = $0.handle(message) }
            default:
                add("arrives: \(message)", true) { next in
                    next.messages.remove(at: index)
                    next.hear(message, of: request)
                }
            }
            add("lost: \(message)", world.losses > 0) { next in
                next.losses -= 1
                next.messages.remove(at: index)
                next.hear(nil, of: request)
            }
        }
        for (index, message) in world.orphans.enumerated() {
            add("the API handles an old \(message)", true) { next in
                next.orphans.remove(at: index)
                _ = next.handle(message)
            }
        }
    }

    private static func server(_ world: JobWorld, _ add: Add) {
        add("the job completes", world.jobs.last == .running) { next in
            next.jobs[next.jobs.count - 1] = .completed
            next.pushes = 1
        }
        add("24 hours pass", !world.isLate) { next in
            next.isLate = true
            next.knowsKey = false
            next.orphans = []
            next.messages = next.messages.filter { ![.order].contains($0) }
            if next.messages.count < world.messages.count { next.hear(nil, of: .order) }
            // The driver's timer; a dead process has none.
            if next.state != nil {
                let effects = next.effects
                next.effects = []
                next.send(.deadlinePassed)
                next.effects = effects + next.effects
            }
        }
        add("a push is lost", world.pushes > 0) { $0.pushes -= 1 }
        add("a push arrives", world.pushes > 0 && world.state != nil) { next in
            next.pushes -= 1
            next.wasTold = true
            next.send(.pushed)
        }
        add("a push arrives twice", world.pushes > 0 && world.duplicates > 0 && world.state != nil) { next in
            next.duplicates -= 1
            next.wasTold = true
            next.send(.pushed)
        }
    }

    private static func device(_ world: JobWorld, _ state: JobReducer.State, _ add: Add) {
        add("the timer fires", state.isTimerSet) { $0.send(.timerFired) }
        add("the network returns", state.failures > 0 && state.isTimerSet) { $0.send(.networkReturned) }
        add("to the background", state.isInForeground && world.toggles > 0) { next in
            next.toggles -= 1
            next.send(.enteredBackground)
        }
        add("to the foreground", !state.isInForeground) { next in
            next.wasTold = next.jobs.last == .completed
            next.send(.enteredForeground)
        }
        add("the stream tells the end", state.isStreaming && world.jobs.last == .completed) { next in
            next.wasTold = true
            next.send(.streamed(status: "completed", queuePosition: nil, percent: 100, hasEnded: true))
        }
        add("the stream breaks", state.isStreaming) { $0.send(.streamEnded) }
        add("the app cancels", world.cancels > 0) { next in
            next.cancels -= 1
            next.send(.cancelled)
        }
        add("the app acknowledges", world.deliveries > 0 && !world.hasAcknowledged) { next in
            next.hasAcknowledged = true
            next.send(.acknowledged)
        }
    }

    static func violation(of world: JobWorld) -> String? {
        if world.deliveries > 1 { return "the app hears of two ends in one process" }
        if world.outcomes.count > 1 { return "the app hears of different ends: \(world.outcomes)" }
        if world.deliveredAfterRemoval { return "the app hears of the end after it has acknowledged it" }
        if world.jobs.count > 1 { return "the job was ordered twice" }
        // A cancellation counts once it is on the disk: before that, a crash undoes it.
        if world.disk?.isCancelling == true, let outcome = world.outcomes.first, outcome != .cancelled {
            return "a cancelled order ended as \(outcome)"
        }
        if world.outcomes.contains(.cancelled), !world.isLate, let job = world.jobs.last, job != .deleted {
            return "the order ended as cancelled, and the API works on it"
        }
        if world.isLate, world.effects.isEmpty, let state = world.state, !state.saved.hasEnded { return "an order goes on after 24 hours" }
        if let state = world.state, let what = idleness(of: state, in: world) { return what }
        return nil
    }

    /// What a living process has forgotten to do.
    private static func idleness(of state: JobReducer.State, in world: JobWorld) -> String? {
        let isIdle = world.effects.isEmpty && world.messages.isEmpty && !state.isTimerSet && !state.isStreaming
        guard isIdle, !state.saved.hasEnded else { return nil }
        if state.saved.phase == .ordering { return "the order has stopped" }
        if state.saved.isCancelling { return "the cancellation has stopped" }
        if world.wasTold { return "the app has got the end, and does not look" }
        if state.isInForeground, state.polls < state.maxPolls { return "the app has stopped to poll" }
        return nil
    }

    static func violationAtEnd(of world: JobWorld) -> String? {
        if world.disk != nil { return "something is pending: \(world)" }
        if world.hasUpload { return "a file is left" }
        if world.outcomes.isEmpty { return "the app has heard of no end" }
        return nil
    }
}

/// Everything lost or late, with crashes at any effect.
enum JobCrashModel: JobModel {
    static var initial: [JobWorld] { [JobWorld(crashes: 2, losses: 1, toggles: 2, cancels: 0)] }
}

/// The app changes its mind while anything happens.
enum JobCancelModel: JobModel {
    static var initial: [JobWorld] { [JobWorld(crashes: 1, losses: 1, toggles: 1, cancels: 1)] }
}

/// The app follows by a stream that may break, and pushes come twice.
enum JobStreamModel: JobModel {
    static var initial: [JobWorld] { [JobWorld(crashes: 1, losses: 1, toggles: 2, cancels: 0, duplicates: 1, usesStream: true)] }
}
