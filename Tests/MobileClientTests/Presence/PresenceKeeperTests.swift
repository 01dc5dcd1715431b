import Foundation
import Testing

@testable import MobileClient

@Suite struct PresenceKeeperTests {
    private let time = ManualTime()
    private let presence = FakePresence()
    private let keeper: PresenceKeeper

    init() {
        let presence = presence
        keeper = PresenceKeeper(
            .init(
                sender: ScriptedSender { sent throws(HeliographError) in try await presence.serve(sent) }, time: time.source,
                random: { 0.5 }))
    }

    private func says(_ conversations: String?..., sourceLocation: SourceLocation = #_sourceLocation) async {
        let expected = conversations.map {
            #"PUT /v1/users/me/presence {"conversation_id":\#($0.map { "\"\($0)\"" } ?? "null")}"#
        }
        await until { await presence.shown.count >= expected.count }
        #expect(await presence.shown == expected, sourceLocation: sourceLocation)
    }

    /// Shows a conversation, and waits until the API knows: then the renewal and the end of the lease are waited for.
    private func shown(_ conversation: String) async {
        await keeper.show(conversation: conversation)
        await says(conversation)
        await until { await !keeper.isBusy }
    }

    @Test func `a conversation is announced when it appears, and withdrawn when it disappears`() async {
        await shown("c1")
        await keeper.show(conversation: "c1")
        await keeper.show(conversation: nil)
        await says("c1", nil)
    }

    @Test func `the lease is renewed every 25 seconds while the conversation is visible`() async {
        await shown("c1")
        await time.waitForSleepers(2)
        time.advance(by: .seconds(24))
        await says("c1")
        time.advance(by: .seconds(1))
        await says("c1", "c1")
        await keeper.show(conversation: nil)
        await says("c1", "c1", nil)
        await until { await !keeper.isBusy }
        time.advance(by: .seconds(600))
        await says("c1", "c1", nil)
    }

    @Test func `the newest conversation wins while a request is in flight`() async {
        await presence.hold()
        await keeper.show(conversation: "c1")
        await says("c1")
        for conversation in ["c2", nil, "c3"] { await keeper.show(conversation: conversation) }
        await says("c1")
        await presence.release()
        await says("c1", "c3")
    }

    @Test func `an app in the background shows nothing, and says so before it is suspended`() async {
        await shown("c1")
        await keeper.enterBackground()
        #expect(await !keeper.isBusy)
        await says("c1", nil)
        await keeper.enterForeground()
        await says("c1", nil, "c1")
    }

    @Test func `going to the background ends after four seconds without an answer`() async {
        await shown("c1")
        await presence.hold()
        let isReturned = Locked(false)
        let background = Task {
            await keeper.enterBackground()
            isReturned.withLock { $0 = true }
        }
        await says("c1", nil)
        // The deadlines of the request and of the background, and the end of the lease.
        await time.waitForSleepers(3)
        time.advance(by: .seconds(4))
        await until { isReturned.withLock { $0 } }
        #expect(isReturned.withLock { $0 })
        await presence.release()
        await background.value
    }

    @Test(arguments: [403, 404, 409]) func `a refused conversation is not announced again until the screen changes`(status: Int) async {
        await presence.fail(HeliographError(.init(rawValue: "refused"), "no", status: status))
        await shown("c1")
        time.advance(by: .seconds(600))
        await keeper.show(conversation: "c1")
        await says("c1")
        await keeper.show(conversation: "c2")
        await says("c1", "c2")
    }

    @Test func `a conversation that was refused before the registration is announced after it`() async {
        await presence.fail(HeliographError(.deviceNotRegistered, "register first", status: 409))
        await shown("c1")
        await keeper.deviceRegistered()
        await says("c1", "c1")
    }

    @Test func `a failure is repeated, at once when there is a network again`() async {
        let offline = HeliographError(.unreachable, "there is no network")
        await presence.fail(offline, offline)
        await shown("c1")
        await time.waitForSleepers(2)
        time.advance(by: .milliseconds(1_500))
        await says("c1", "c1")
        await until { await !keeper.isBusy }
        await keeper.networkChanged(isOnline: false)
        await keeper.networkChanged(isOnline: true)
        await says("c1", "c1", "c1")
    }

    @Test func `a lease that cannot be withdrawn lapses, and is then left alone`() async {
        await shown("c1")
        await keeper.networkChanged(isOnline: false)
        await keeper.show(conversation: nil)
        await time.waitForSleepers(2)
        time.advance(by: .seconds(45))
        await until { await !keeper.believes }
        await keeper.networkChanged(isOnline: true)
        await says("c1")
    }
}

extension PresenceKeeper {
    fileprivate var isBusy: Bool { get async { await runner().state.request != nil } }
    fileprivate var believes: Bool { get async { await runner().state.told != .none } }
}
