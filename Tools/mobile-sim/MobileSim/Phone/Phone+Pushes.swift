internal import Foundation
internal import MobileClient
internal import Synchronization

/// How pushes come to a phone.
extension Phone {
    /// The notifications that a phone shows at most.
    private static let maxNotifications = 20

    /// Decides what becomes of a push that Apple would bring to the phone.
    func arrived(_ push: EmulatorControl.Push) {
        let scenario = world.scenario
        let isEnding = state.withLock { $0.isEnding }
        let (isMissing, delay, second) = draw { random in
            (
                random.chance(scenario.missingPushes), random.chance(scenario.latePushes) ? random.seconds(1...40) : 0,
                random.chance(scenario.doublePushes) ? random.seconds(0...15) : nil
            )
        }
        guard isEnding || !isMissing else {
            world.measurements.count(.pushMissing)
            return note("A push never comes: \(Self.name(push))")
        }
        if delay > 0, !isEnding { world.measurements.count(.pushLate) }
        bring(push, after: isEnding ? 0 : delay)
        guard let second, !isEnding else { return }
        world.measurements.count(.pushTwice)
        bring(push, after: delay + second)
    }

    private func bring(_ push: EmulatorControl.Push, after delay: Double) {
        Task {
            if delay > 0 { try? await Task.sleep(for: .seconds(delay)) }
            while !network.isOnline { try? await Task.sleep(for: .milliseconds(200)) }
            guard let payload = PushPayload(json: push.json) else { return note("A push cannot be read") }
            if !push.title.isEmpty { await runExtension(push) }
            await receive(payload, Self.name(push))
        }
    }

    /// Has the extension see a push; in one of ten cases the system has little patience.
    private func runExtension(_ push: EmulatorControl.Push) async {
        let (expires, seconds) = draw { ($0.chance(0.1), $0.seconds(0...2)) }
        let folder = state.withLock { $0.folder }
        await ExtensionProcess(phone: self, folder: folder).receive(push, expiringAfter: expires ? seconds : nil)
    }

    private func receive(_ payload: PushPayload, _ name: String) async {
        let (app, isForeground) = state.withLock { ($0.app, $0.isForeground) }
        guard let app, app.incarnation.isAlive else {
            world.measurements.push("while the app did not run")
            note("A push comes while the app does not run: \(name)")
            return memory.withLock { memory in memory.notifications = (memory.notifications + [payload]).suffix(Self.maxNotifications) }
        }
        world.measurements.push(isForeground ? "in the foreground" : "in the background")
        note("A push comes: \(name)")
        await app.receive(payload, isForeground ? .foreground : .background)
    }

    private static func name(_ push: EmulatorControl.Push) -> String {
        let data = push.data
        let kind = data["kind"] ?? "badge"
        return "\(kind) \(data["jobId"] ?? data["session_id"] ?? data["event_id"] ?? data["conversationId"] ?? "")"
    }
}
