import Testing

@testable import MobileClient

/// All orders of events around the notification of a job that completes while the app is away.
@Suite struct UploadNoticeModelTests {
    private struct World: Hashable {
        var state = BackgroundUploadReducer.State(isStarted: true)
        var isRunning = true
        var effects: [BackgroundUploadReducer.Effect] = []
        var completions = 2
        var crashes = 2
        var moves = 2
        var hasTimer = false
        /// A push is in the notification centre, of which the app knows, or does not.
        var isPushShown = false
        var isPushKnown = false
        var hasPush = true
        var isClaimed = false
        var notifications = 0
        var handlers: Set<Int> = []
        var hasWakeUp = true
        var fault: String?

        mutating func send(_ event: BackgroundUploadReducer.Event) { effects = BackgroundUploadReducer.reduce(&state, event) }
    }

    private enum Notices: CheckedModel {
        static var initial: [World] { [World()] }

        static func steps(from world: World) -> [(name: String, world: World)] {
            guard world.fault == nil else { return [] }
            var steps: [(name: String, world: World)] = []
            func step(_ name: String, if isPossible: Bool = true, _ change: (inout World) -> Void) {
                guard isPossible else { return }
                var next = world
                change(&next)
                steps.append((name, next))
            }
            step("a push is shown", if: world.hasPush) { world in
                world.hasPush = false
                world.isPushShown = true
            }
            step("the person removes the push", if: world.isPushShown && world.isPushKnown) { $0.isPushShown = false }
            step("the process ends", if: world.isRunning && world.crashes > 0) { world in
                world.crashes -= 1
                world.isRunning = false
                world.effects = []
                // A push of which only this process knew.
                if !world.isClaimed { world.isPushKnown = false }
                world.hasTimer = false
                world.handlers = []
                world.state = .init(isStarted: true)
            }
            step("the process begins", if: !world.isRunning) { $0.isRunning = true }
            guard world.isRunning else { return steps }
            if let effect = world.effects.first {
                step("effect \(effect)") { perform(effect, &$0) }
                return steps
            }
            step("the job is seen to be completed", if: world.completions > 0) { world in
                world.completions -= 1
                world.send(.jobCompleted("job"))
            }
            step("the app hears of the push", if: world.isPushShown && !world.isPushKnown) { world in
                world.isPushKnown = true
                world.send(.pushShown("job"))
            }
            step("the time for a push is over", if: world.hasTimer) { world in
                world.hasTimer = false
                world.send(.pushGraceEnded("job"))
            }
            step("the app moves", if: world.moves > 0) { world in
                world.moves -= 1
                world.send(world.state.isForeground ? .background : .foreground)
            }
            step("a wake-up", if: world.hasWakeUp && !world.state.isForeground) { world in
                world.hasWakeUp = false
                world.handlers = [0]
                world.send(.wokenUp(handler: 0))
                world.effects += BackgroundUploadReducer.reduce(&world.state, .sessionFinished)
            }
            return steps
        }

        private static func perform(_ effect: BackgroundUploadReducer.Effect, _ world: inout World) {
            world.effects.removeFirst()
            switch effect {
            case .waitForPush: world.hasTimer = true
            case .checkShown: world.effects += BackgroundUploadReducer.reduce(&world.state, .shown("job", world.isPushShown))
            case .claimNotice:
                world.effects += BackgroundUploadReducer.reduce(&world.state, .claimed("job", !world.isClaimed))
                world.isClaimed = true
            case .notify:
                world.notifications += 1
                if world.state.isForeground { world.fault = "a notification is shown to a person who sees the app" }
                if world.isPushKnown { world.fault = "a notification is shown beside a push" }
            case .callHandler(let handler):
                if world.handlers.remove(handler) == nil { world.fault = "a completion handler is called twice" }
                if world.hasTimer, world.state.notices["job"] == .waiting { world.fault = "a handler does not wait for the notification" }
            default: break
            }
        }

        static func violation(of world: World) -> String? {
            if let fault = world.fault { return fault }
            return world.notifications > 1 ? "a job is notified twice" : nil
        }

        static func violationAtEnd(of world: World) -> String? { world.handlers.isEmpty ? nil : "a completion handler is never called" }
    }

    @Test func `a job is notified at most once, and not to a person who sees the app`() { expectHolds(Notices.self, atLeast: 1_000) }

    private typealias Machine = BackgroundUploadReducer

    @Test func `a job that completes in the background is notified when no push comes`() {
        var state = Machine.State(isStarted: true)
        #expect(Machine.reduce(&state, .jobCompleted("j")) == [.waitForPush("j")])
        #expect(Machine.reduce(&state, .pushGraceEnded("j")) == [.checkShown("j")])
        #expect(Machine.reduce(&state, .shown("j", false)) == [.claimNotice("j")])
        #expect(Machine.reduce(&state, .claimed("j", true)) == [.notify("j")])
        #expect(Machine.reduce(&state, .jobCompleted("j")) == [])
    }

    @Test(arguments: [0, 1, 2, 3])
    func `a push at any moment before the claim keeps the notification away`(moment: Int) {
        let events: [Machine.Event] = [.jobCompleted("j"), .pushGraceEnded("j"), .shown("j", false), .claimed("j", true)]
        var state = Machine.State(isStarted: true)
        for event in events.prefix(moment) { _ = Machine.reduce(&state, event) }
        #expect(Machine.reduce(&state, .pushShown("j")) == [.claimNotice("j")])
        let effects = events.dropFirst(moment).flatMap { Machine.reduce(&state, $0) }
        #expect(effects == [] && state.notices == ["j": .decided])
    }

    @Test func `a push that only the notification centre knows keeps the notification away`() {
        var state = Machine.State(isStarted: true)
        for event in [Machine.Event.jobCompleted("j"), .pushGraceEnded("j")] { _ = Machine.reduce(&state, event) }
        #expect(Machine.reduce(&state, .shown("j", true)) == [])
        #expect(state.notices == ["j": .decided])
    }
}
