import Foundation
import Testing

@testable import MobileClient

/// Taps before and after the app has set a handler, with a tap that is reported twice, a change of the handler and its removal.
private enum RouterModel: CheckedModel {
    static func tap(_ id: String) -> RouterReducer.Tap {
        let message = PushMessage(PushSamples.chat("c", message: id).dated(1))
        return RouterReducer.Tap(opening: .init(route: .init(message), action: .open, message: message))
    }
    static let taps = [tap("m-1"), tap("m-2"), tap("m-3")]

    struct World: Hashable {
        var state = RouterReducer.State()
        var effects: [RouterReducer.Effect] = []
        var reports = [2, 1, 1]
        var handlerChanges = 4
        var handler: Int?
        var live: Set<Int> = []
        /// The taps in the order of their first reports, and those that a handler got.
        var opened: [RouterReducer.Tap] = []
        var got: [RouterReducer.Tap] = []
        var hasEnded = false
        var wrong: String?
    }

    static var initial: [World] { [World()] }

    static func steps(from world: World) -> [(name: String, world: World)] {
        guard !world.hasEnded else { return [] }
        var steps: [(name: String, world: World)] = []
        var ended = world
        ended.hasEnded = true
        steps.append(("the process ends", ended))
        if let effect = world.effects.first {
            var next = world
            next.effects.removeFirst()
            perform(effect, &next)
            // The runner performs all effects of an event before the next one.
            return steps + [("\(name(effect))", next)]
        }
        for index in taps.indices where world.reports[index] > 0 {
            var next = world
            next.reports[index] -= 1
            if !next.opened.contains(taps[index]) { next.opened.append(taps[index]) }
            next.effects = RouterReducer.reduce(&next.state, .opened(taps[index]))
            steps.append(("tap \(index)", next))
        }
        if world.handlerChanges > 0 {
            var set = world
            set.handlerChanges -= 1
            set.handler = 5 - set.handlerChanges
            set.live.insert(set.handler ?? 0)
            set.effects = RouterReducer.reduce(&set.state, .handlerSet(set.handler ?? 0))
            steps.append(("handler \(set.handler ?? 0) is set", set))
            if world.handler != nil {
                var removed = world
                removed.handlerChanges -= 1
                removed.handler = nil
                removed.effects = RouterReducer.reduce(&removed.state, .handlerRemoved)
                steps.append(("the handler is removed", removed))
            }
        }
        return steps
    }

    private static func name(_ effect: RouterReducer.Effect) -> String {
        switch effect {
        case .deliver(let tap, let handler): "deliver \(tap.opening.message.identifier ?? "") to \(handler)"
        case .forget(let handler): "forget \(handler)"
        }
    }

    private static func perform(_ effect: RouterReducer.Effect, _ world: inout World) {
        switch effect {
        case .deliver(let tap, let handler):
            if !world.live.contains(handler) { world.wrong = "a tap goes to a handler that is gone" }
            world.got.append(tap)
        case .forget(let handler): world.live.remove(handler)
        }
    }

    static func violation(of world: World) -> String? {
        if let wrong = world.wrong { return wrong }
        if Set(world.got).count != world.got.count { return "a tap was delivered twice" }
        return world.got == Array(world.opened.prefix(world.got.count)) ? nil : "the order of the taps is lost"
    }

    static func violationAtEnd(of world: World) -> String? {
        if !world.hasEnded { return "a world without an end of the process" }
        guard world.effects.isEmpty, world.handler != nil else { return nil }
        return world.got == world.opened ? nil : "\(world.opened.count - world.got.count) taps were not delivered"
    }
}

extension PushPayload {
    fileprivate func dated(_ seconds: Double) -> PushPayload {
        PushPayload(values: values, identifier: identifier, deliveredAt: seconds)
    }
}

@Suite struct NotificationRouterModelTests {
    @Test func `each tap is delivered once and in order, whenever the handler comes`() {
        expectHolds(RouterModel.self, atLeast: 500)
    }
}

@Suite struct NotificationRouterTests {
    @Test func `every kind has its route`() throws {
        let routes = try PushSamples.fixtures().mapValues { NotificationRouter.Route(PushMessage($0)) }
        #expect(routes["job_completed.json"] == .job(id: "job-1") && routes["job_failed.json"] == .job(id: "job-1"))
        #expect(routes["sign_in.true.json"] == .ekyc(sessionID: PushSamples.session))
        #expect(routes["chat_message.json"] == .conversation(id: "c-9") && routes["new_photos.json"] == .event(id: "42"))
        #expect(routes["invitation.event.json"] == .invitation(topic: "event:42"))
        #expect(routes["account_alert.new_sign_in.json"] == .account(.newSignIn))
        guard case .app(let push) = routes["custom.json"] else {
            Issue.record("no route for the app's own kind")
            return
        }
        #expect(push.kind == "order.shipped")
        let unknown = PushMessage(PushPayload(data: ["kind": "news"]))
        #expect(NotificationRouter.Route(unknown) == .unknown(unknown))
    }

    @Test func `a tap that starts the app waits for the handler`() async {
        let router = NotificationRouter()
        router.open(PushMessage(PushSamples.jobCompleted()), action: .viewImage)
        router.open(PushMessage(PushSamples.chat()), action: .open)
        let (openings, deliver) = AsyncStream.makeStream(of: NotificationRouter.Opening.self)
        router.setHandler { deliver.yield($0) }
        var got: [NotificationRouter.Opening] = []
        for await opening in openings {
            got.append(opening)
            if got.count == 2 { break }
        }
        #expect(got.map(\.route) == [.job(id: PushSamples.job), .conversation(id: "c-9")])
        #expect(got.map(\.action) == [.viewImage, .open])
    }

    @Test func `a handler that reports another tap gets it afterwards`() async {
        let router = NotificationRouter()
        let (openings, deliver) = AsyncStream.makeStream(of: NotificationRouter.Route.self)
        router.setHandler { [weak router] opening in
            if opening.route == .event(id: "42") { router?.open(PushMessage(PushSamples.chat()), action: .open) }
            deliver.yield(opening.route)
        }
        router.open(PushMessage(PushSamples.newPhotos()), action: .open)
        var got: [NotificationRouter.Route] = []
        for await route in openings {
            got.append(route)
            if got.count == 2 { break }
        }
        #expect(got == [.event(id: "42"), .conversation(id: "c-9")])
    }

    @Test func `two taps on pushes of the same content are two, when nothing says that they are one`() {
        var state = RouterReducer.State(handler: 1)
        let message = PushMessage(PushSamples.chat())
        let tap = RouterReducer.Tap(opening: .init(route: .init(message), action: .open, message: message))
        #expect(RouterReducer.reduce(&state, .opened(tap)).count == 1 && RouterReducer.reduce(&state, .opened(tap)).count == 1)
    }

    @Test func `the taps that wait are bounded, and none is kept for the next person`() {
        var state = RouterReducer.State()
        for number in 0..<40 {
            let message = PushMessage(PushSamples.chat(message: "m-\(number)"))
            _ = RouterReducer.reduce(&state, .opened(.init(opening: .init(route: .init(message), action: .open, message: message))))
        }
        #expect(state.waiting.count == RouterReducer.maxWaiting)
        #expect(state.waiting.last?.opening.message.identifier?.hasPrefix("chat:m-39:") == true)
        _ = RouterReducer.reduce(&state, .signedOut)
        #expect(state.waiting.isEmpty)
    }
}
