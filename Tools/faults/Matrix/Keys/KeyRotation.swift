import Foundation
import TestSupport

/// Rotates the keys of a system by the steps of `docs/operations/keys.md`.
struct KeyRotation {
    private static let oldID = "k1"
    private static let newID = "k2"
    /// The time until the old key is safe to remove, work that was begun before included.
    private static let patience = Duration.seconds(600)
    /// The time after which the load has repeated all requests that an instance with the old key in front has answered.
    private static let repetitionTime = Duration.seconds(90)

    let twins: TwinStack
    let chat: Chat
    /// The messages that are sent between two restarts.
    let messagesPerRestart: Int

    /// A line of `keys status --json`.
    private struct KeyState: Decodable {
        let key_id: String
        let values: Int
        let state: String
    }

    /// Rotates a ring: adds a key, makes it the sealing key, reseals everything, and removes the old key.
    ///
    /// - Returns: Whether everything opens with the new key alone, before and after the removal of the old one.
    func rotate(_ setting: KeySetting) async throws -> [FaultReport.Check] {
        guard let ring = setting.ring, let old = twins.keys[setting.name] else { return [] }
        let new = try await value(of: setting.name, in: ["keys", "generate", "--ring", ring, "--key-id", Self.newID])
        try await apply("\(old),\(new)", of: setting)
        try await apply("\(new),\(old)", of: setting)
        let front = ContinuousClock.now
        var changed = 0
        try await eventually(within: Self.patience, "\(Self.oldID) of \(setting.name) is safe to remove") {
            let output = try await twins.control(["keys", "rotate", "--ring", ring])
            changed += Self.number(after: setting.isLookups ? "made anew " : "sealed anew ", in: output)
            return try await states(ring).first { $0.key_id == Self.oldID }?.state == "safe to remove"
        }
        let alone = [setting.name: new]
        let before = try await verify(ring, keys: alone)
        if setting.isLookups { try await Task.sleep(until: front + Self.repetitionTime) }
        try await apply(new, of: setting)
        // The lookups of the old key are deleted when it is gone.
        for last in setting.isLookups ? [[], ["--forget"]] : [] { _ = try await twins.control(["keys", "rotate", "--ring", ring] + last) }
        let after = try await verify(ring, keys: alone)
        let left = try await states(ring).filter { $0.key_id != Self.newID }
        return [
            FaultReport.Check(
                name: "\(setting.name): the rotation \(setting.isLookups ? "made lookups" : "sealed values") anew", ok: changed > 0,
                detail: "\(changed)"),
            FaultReport.Check(name: "\(setting.name): everything opens with the new key alone", ok: before.ok, detail: before.output),
            FaultReport.Check(name: "\(setting.name): so it does after the removal", ok: after.ok, detail: after.output),
            FaultReport.Check(
                name: "\(setting.name): no other key is left", ok: left.isEmpty,
                detail: left.map { "\($0.key_id): \($0.values) \($0.state)" }.joined(separator: "; ")),
        ]
    }

    /// Replaces a key that does not seal.
    func replace(_ setting: KeySetting) async throws {
        try await apply(value(of: setting.name, in: ["keys", "generate"]), of: setting)
    }

    private func apply(_ value: String, of setting: KeySetting) async throws {
        try await twins.apply(value, of: setting) {
            let goal = chat.sent + messagesPerRestart
            try await eventually("\(messagesPerRestart) messages are sent", isTrue: { chat.sent >= goal })
        }
    }

    private func value(of name: String, in command: [String]) async throws -> String {
        let lines = try await twins.control(command).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(name + "=") }) else {
            throw DeadlineExceeded(description: "no \(name) was made")
        }
        return String(line.dropFirst(name.count + 1))
    }

    private func states(_ ring: String) async throws -> [KeyState] {
        try JSONDecoder().decode([KeyState].self, from: Data(try await twins.control(["keys", "status", "--ring", ring, "--json"]).utf8))
    }

    private func verify(_ ring: String, keys: [String: String]) async throws -> (ok: Bool, output: String) {
        do {
            let output = try await twins.control(["keys", "verify", "--ring", ring], keys: keys)
            return (Self.number(after: "opened ", in: output) > 0, output.trimmingCharacters(in: .whitespacesAndNewlines))
        } catch let failure as CommandLineTool.Failure {
            return (false, failure.output)
        }
    }

    private static func number(after prefix: String, in output: String) -> Int {
        output.split(separator: "\n").first { $0.hasPrefix(prefix) }.flatMap { Int($0.dropFirst(prefix.count).filter(\.isNumber)) } ?? 0
    }
}
