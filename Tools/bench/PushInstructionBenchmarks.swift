import Foundation
import TestSupport

/// Counts the instructions of the notifier and of the emulator for a push under valgrind: the difference of two runs of different size.
/// The emulator is measured with h2load as its client. How many pushes the notifier handles at once depends on time, so that its count
/// varies by some percent.
///
/// - Parameter profiles: The folder for the profiles, for `callgrind_annotate`; nil keeps no profiles.
func benchmarkPushInstructions(fewer: Int = 2_000, more: Int = 8_000, profiles: String? = nil) async throws -> [Figure] {
    let folder = try TemporaryDirectory()
    var figures: [Figure] = []
    for (name, run) in [("notifier", notifierInstructions), ("fcm-emulator", emulatorInstructions)] {
        let program = try await stripped(PackageRoot.executable(name))
        defer { try? FileManager.default.removeItem(atPath: program) }
        var counts: [Double] = []
        for count in [fewer, more] {
            let profile = "\(profiles ?? folder.path)/\(name).\(count).out"
            counts.append(try await run(callgrind(profile: profile) + [program], profile, count))
        }
        figures.append(
            Figure(
                "push_instructions_\(name)", (counts[1] - counts[0]) / Double(more - fewer), unit: "instructions a push",
                moreIsBetter: false))
    }
    return figures
}

private func notifierInstructions(_ command: [String], _ profile: String, _ count: Int) async throws -> Double {
    let stack = try await PushStack.start()
    _ = try await stack.populate(topic: "event:bench", count: count)
    let registry = try stack.launch("token-registry")
    let notifier = try stack.launch("notifier", by: command)
    let before = try await stack.accepted()
    try await request(stack, topic: "event:bench")
    try await eventually(within: .seconds(300), "\(count) pushes have arrived") {
        try await stack.accepted() - before >= count ? () : nil
    }
    let instructions = try await totalInstructions(of: notifier, profile)
    await registry.stop()
    await stack.stop()
    return instructions
}

private func emulatorInstructions(_ command: [String], _ profile: String, _ count: Int) async throws -> Double {
    let stack = try await PushStack.start(emulator: command)
    let token = try await stack.populate(topic: "event:bench", count: 1)[0]
    _ = try await generatorRate(stack, token: token, count: count)
    let instructions = try await totalInstructions(of: stack.emulator, profile)
    await stack.stop()
    return instructions
}

/// Ends a process under valgrind and returns the sum of its profile.
private func totalInstructions(of process: GuardedProcess, _ profile: String) async throws -> Double {
    // Not by `stop()`, which killed valgrind before it had written.
    process.signal(SIGTERM)
    return try await eventually(within: .seconds(60), "valgrind has written its profile") {
        let text = try? String(contentsOfFile: profile, encoding: .utf8)
        guard let line = text?.split(separator: "\n").last, line.hasPrefix("totals:") else { return nil }
        return line.split(separator: " ").last.flatMap { Double($0) }
    }
}
