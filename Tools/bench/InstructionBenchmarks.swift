import Foundation
import TestSupport

/// Counts the instructions of the bus for a message under valgrind: slow, but the same on every machine and under any other load, so
/// that two states of the code can be compared to a percent. Kernel and server are not counted.
///
/// - Parameter profiles: The folder for the profiles of our process, for `callgrind_annotate`; nil keeps no profiles.
func benchmarkInstructions(fewer: Int = 2_000, more: Int = 6_000, profiles: String? = nil) async throws -> [Figure] {
    let server = try await RedisServer.start(persistence: .appendOnly)
    let reference = try await ReferenceProgram("bus_reference", libraries: ["hiredis"])
    defer { reference.remove() }
    let program = try await stripped("/proc/\(getpid())/exe")
    defer { try? FileManager.default.removeItem(atPath: program) }
    // The difference of two runs, without the start of the process.
    func perMessage(_ profiles: String? = nil, _ command: (Int) -> [String]) async throws -> Double {
        func run(_ count: Int) async throws -> Double {
            try await instructions(of: command(count), profile: profiles.map { "\($0)/bus.\(count).out" })
        }
        return try await (run(more) - run(fewer)) / Double(more - fewer)
    }
    let ours = try await perMessage(profiles) { [program, "--bus-round", "\(server.url)=\($0)"] }
    let theirs = try await perMessage { [reference.path, server.socket, "reference:\($0)", "\($0)", "256"] }
    await server.stop()
    return [
        Figure(
            "bus_instructions", ours, unit: "instructions a message", reference: "the same pattern in C on hiredis",
            referenceValue: theirs, bar: nil, moreIsBetter: false)
    ]
}

/// Does one round of the bus on a server: `unix:///path=messages`.
func runBusRound(_ round: String) async throws {
    let parts = round.split(separator: "=")
    guard parts.count == 2, let messages = Int(parts[1]) else { throw DeadlineExceeded(description: "a round is URL=MESSAGES") }
    var cost = ProcessCost()
    let rate = try await throughput(String(parts[0]), prefix: "round:\(messages):", messages: messages, batch: 256, cost: &cost)
    print("\(Int(rate)) messages/s, \(cost.total * 1e6 / Double(messages)) µs of processor time a message")
}

/// Runs a program under valgrind and returns the instructions of all its threads.
private func instructions(of command: [String], profile: String?) async throws -> Double {
    let output = try await CommandLineTool.run(callgrind(profile: profile) + command)
    let line = output.split(separator: "\n").last { $0.contains("Collected :") }
    guard let number = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
        throw DeadlineExceeded(description: "valgrind counted nothing: \(output)")
    }
    return number
}

/// Returns the command before a program that counts its instructions.
///
/// - Parameter profile: The file for the profile by function; nil keeps no profiles.
func callgrind(profile: String?) -> [String] {
    ["/usr/bin/valgrind", "--tool=callgrind", "--callgrind-out-file=\(profile ?? "/dev/null")"]
}

/// Copies an executable without its debugging symbols, which valgrind cannot read as Swift's linker writes them; the caller removes it.
func stripped(_ executable: String) async throws -> String {
    let copy = FileManager.default.temporaryDirectory.path + "/stripped-\(UUID().uuidString)"
    try await CommandLineTool.run(["strip", "--strip-debug", "-o", copy, executable])
    return copy
}
