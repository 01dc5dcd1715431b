internal import Foundation
internal import MobileClient
internal import Synchronization

/// How the app calls the client.
extension AppProcess {
    /// The longest pause before a call is tried again, in seconds.
    private static let maxPause = 20.0

    /// Calls the client; again after an error that may pass. Nil after the last error, which is counted.
    func attempt<Answer: Sendable>(
        _ name: String, times: Int = 4, _ body: () async throws(HeliographError) -> Answer
    ) async -> Answer? {
        for attempt in 1...times {
            do throws(HeliographError) {
                let answer = try await body()
                guard await incarnation.pass(.step) else { return nil }
                phone.world.measurements.call(name)
                return answer
            } catch {
                guard await incarnation.pass(.step) else { return nil }
                phone.note("\(name) failed: \(error)")
                phone.world.measurements.error("\(name): \(error.code.rawValue)")
                guard error.isRetryable, attempt < times else { return nil }
                let wait = max(error.retryAfter.map { $0 / .seconds(1) } ?? 0, Double(1 << (attempt - 1)))
                try? await Task.sleep(for: .seconds(min(wait, Self.maxPause)))
                guard await incarnation.pass(.step) else { return nil }
            }
        }
        return nil
    }

    // MARK: Pushes

    /// Takes a push, and checks the notification that would be shown.
    func receive(_ payload: PushPayload, _ context: PushContext) async {
        let message = PushMessage(payload)
        await untilEnd { [self] in
            let before = phone.state.withLock { $0.visible }
            let reception = await client.push.received(payload, in: context)
            guard await incarnation.pass(.step) else { return }
            let after = phone.state.withLock { $0.visible }
            if let badge = client.push.badge.count, badge < 0 { phone.violate(.badge, "The badge counts \(badge)") }
            guard context == .foreground else { return }
            phone.world.measurements.push(reception.presentation.banner ? "presented" : "not presented")
            guard let before, before == after, message.conversationID == before else { return }
            phone.world.measurements.push("about the conversation on the screen")
            if reception.presentation != .nothing {
                phone.violate(.presented, "A push about \(before), which is on the screen, shows \(reception.presentation)")
            }
        }
    }

    /// The person taps half of the notifications that came while the app did not run.
    func openNotifications() async {
        let waiting = phone.memory.withLock { memory in
            defer { memory.notifications = [] }
            return memory.notifications
        }
        for payload in waiting where phone.draw({ $0.chance(0.5) }) {
            await client.push.opened(payload)
            guard await incarnation.pass(.step) else { return }
            phone.world.measurements.push("tapped")
        }
    }
}
