import Testing

@testable import MobileClient

/// Pushes about the conversation on the screen, about another one and about a picture, in all orders, each reported more than once.
private enum PushInboxModel: CheckedModel {
    static let chatA = PushMessage(PushSamples.chat("a", message: "m-1"))
    static let chatB = PushMessage(PushSamples.chat("b", message: "m-2"))
    static let failed = PushMessage(PushSamples.jobFailed())
    static let completed = PushMessage(PushSamples.jobCompleted())

    /// The reports of the system, each with the number of its message.
    static let messages = [chatA, chatB, failed, completed]
    static let reports: [(message: Int, context: PushContext)] = [
        (0, .foreground), (1, .foreground), (2, .foreground), (3, .foreground), (3, .background),
    ]

    struct World: Hashable {
        var state = PushInbox.State()
        var changesLeft = 2
        var left = [2, 1, 1, 2, 1]
        var tapsLeft = 1
        var endsLeft = 1
        /// Of this process: how often the handlers of a message ran, and how many sounds it made since the last tap.
        var handled = [0, 0, 0, 0]
        var sounds = [0, 0, 0, 0]
        var wrong: String?
    }

    static var initial: [World] { [World()] }

    static func steps(from world: World) -> [(name: String, world: World)] {
        var steps: [(name: String, world: World)] = []
        for index in reports.indices where world.left[index] > 0 {
            var next = world
            next.left[index] -= 1
            arrive(&next, reports[index].message, reports[index].context)
            steps.append(("\(reports[index].context) gets message \(reports[index].message)", next))
        }
        for visible in [[], ["a"], ["a", "b"]] as [Set<String>] where world.changesLeft > 0 && visible != world.state.visible {
            var next = world
            next.changesLeft -= 1
            _ = PushInbox.reduce(&next.state, .visible(visible))
            steps.append(("the screen shows \(visible.sorted())", next))
        }
        if world.tapsLeft > 0 {
            var next = world
            next.tapsLeft -= 1
            let effects = PushInbox.reduce(&next.state, .opened(completed, .open))
            // The two outcomes of a job have one identifier, and so one notification.
            (next.sounds[2], next.sounds[3]) = (0, 0)
            if effects.contains(.handle(completed)) { handle(&next, 3) }
            if !effects.contains(.route(completed, .open)) { next.wrong = "a tap leads nowhere" }
            steps.append(("the picture is tapped", next))
        }
        if world.endsLeft > 0 {
            var next = world
            next.endsLeft -= 1
            (next.state, next.handled, next.sounds) = (PushInbox.State(), [0, 0, 0, 0], [0, 0, 0, 0])
            steps.append(("the process ends", next))
        }
        return steps
    }

    private static func arrive(_ world: inout World, _ index: Int, _ context: PushContext) {
        let message = messages[index]
        let isVisible = message.conversationID.map(world.state.visible.contains) ?? false
        let effects = PushInbox.reduce(&world.state, .arrived(message, context))
        var answers = 0
        for case .present(_, let presentation, _) in effects {
            answers += 1
            if isVisible != (presentation == .nothing) {
                world.wrong = "\(presentation) while the screen shows \(world.state.visible.sorted())"
            }
            if presentation.sound { world.sounds[index] += 1 }
        }
        if world.sounds[index] > 1 { world.wrong = "a repetition makes a sound" }
        if answers != (context == .foreground ? 1 : 0) { world.wrong = "\(answers) answers to the system" }
        if effects.contains(.handle(message)) { handle(&world, index) }
        if world.handled[index] == 0 { world.wrong = "no handler ran" }
    }

    private static func handle(_ world: inout World, _ index: Int) {
        world.handled[index] += 1
        if world.handled[index] > 1 { world.wrong = "the handlers ran twice" }
    }

    static func violation(of world: World) -> String? { world.wrong }

    static func violationAtEnd(of world: World) -> String? { nil }
}

@Suite struct PushInboxModelTests {
    @Test func `nothing is shown of the visible conversation, and each push is handled once`() {
        expectHolds(PushInboxModel.self, atLeast: 1_000)
    }

    @Test func `a tap on a picture hands it on once, and leads to it each time`() {
        var state = PushInbox.State()
        let message = PushMessage(PushSamples.jobCompleted())
        let first = PushInbox.reduce(&state, .opened(message, .viewImage))
        #expect(first == [.record(message, .opened), .route(message, .viewImage), .handle(message)])
        #expect(PushInbox.reduce(&state, .opened(message, .open)) == [.record(message, .opened), .route(message, .open)])
    }

    @Test func `a removed notification leads nowhere`() {
        var state = PushInbox.State()
        let message = PushMessage(PushSamples.chat())
        #expect(PushInbox.reduce(&state, .opened(message, .dismiss)) == [.record(message, .dismissed)])
    }

    @Test func `new photos of an event are handled each time, and a push that FCM delivers twice once`() {
        var state = PushInbox.State()
        func handles(_ id: String?) -> Bool {
            let message = PushMessage(PushSamples.newPhotos(messageID: id))
            return PushInbox.reduce(&state, .arrived(message, .background)).contains(.handle(message))
        }
        #expect(handles("1") && !handles("1") && handles("2") && handles(nil) && handles(nil))
    }

    @Test func `the person who signs in next has all pushes handled`() {
        var state = PushInbox.State()
        let message = PushMessage(PushSamples.chat())
        _ = PushInbox.reduce(&state, .visible(["c-9"]))
        _ = PushInbox.reduce(&state, .arrived(message, .foreground))
        _ = PushInbox.reduce(&state, .signedOut)
        #expect(state == PushInbox.State())
    }
}

@Suite struct ForegroundPolicyTests {
    private func presentation(_ payload: PushPayload, _ visible: Set<String> = []) -> ForegroundPolicy.Presentation {
        ForegroundPolicy.presentation(of: PushMessage(payload), visible: visible, isRepetition: false)
    }

    @Test func `jobs, sessions, failures, accounts and unknown kinds are shown`() {
        let full = ForegroundPolicy.Presentation(banner: true, sound: true, badge: true, list: true)
        #expect(presentation(PushSamples.jobCompleted()) == full && presentation(PushSamples.jobFailed()) == full)
        var rest = full
        rest.badge = false
        #expect(presentation(PushSamples.signIn()) == rest)
        #expect(presentation(PushSamples.push(["kind": "account_alert", "alert": "face_changed"], title: "T")) == rest)
        #expect(presentation(PushSamples.push(["kind": "news"], title: "T")) == rest)
    }

    @Test func `a message of another conversation is shown`() {
        #expect(presentation(PushSamples.chat("c-9"), ["c-8"]).banner)
        #expect(presentation(PushSamples.chat("c-9"), ["c-8", "c-9"]) == .nothing)
    }

    @Test func `an invitation is listed without banner and sound`() throws {
        let payload = try #require(try PushSamples.fixtures()["invitation.event.json"])
        #expect(presentation(payload) == .init(banner: false, sound: false, badge: false, list: true))
    }

    @Test func `a push that shows nothing shows nothing`() {
        #expect(presentation(PushSamples.possessionCheck) == .nothing)
        let badge = presentation(PushPayload(userInfo: ["aps": ["badge": 2]]))
        #expect(badge == .init(banner: false, sound: false, badge: true, list: false))
    }
}
