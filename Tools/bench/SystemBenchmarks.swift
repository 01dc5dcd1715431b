import Foundation
import TestSupport

/// Measures the whole system as processes: uploads per second, memory of identity-api, and the time from a request to its push.
func benchmarkSystem() async throws -> [Figure] {
    let stack = try await Stack.start(fsync: true)
    return try await uploadFigures(stack) + drainFigures(stack) + latencyFigures(stack)
}

private let uploadCount = 200
private let concurrentUploads = 50
private let signInCount = 60

/// Measures 200 uploads of nine photos by 50 phones, 50 uploads at a time.
private func uploadFigures(_ stack: Stack) async throws -> [Figure] {
    var phones: [Phone] = []
    for _ in 0..<concurrentUploads { phones.append(try await Phone.make(stack)) }
    // The worker is stopped while the uploads run, because it would compete for the cores.
    stack.signal("face-matching-worker", SIGSTOP)
    let start = ContinuousClock.now
    let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
        var started = 0
        var accepted = 0
        func upload() {
            started += 1
            let number = started
            let phone = phones[number % phones.count]
            group.addTask {
                try await phone.signUp(email: "bench-\(number)-\(UUID().uuidString)@example.org").status == 200
            }
        }
        for _ in 0..<concurrentUploads { upload() }
        while let ok = try await group.next() {
            accepted += ok ? 1 : 0
            if started < uploadCount { upload() }
        }
        return accepted
    }
    let seconds = (ContinuousClock.now - start).seconds
    let peak = peakMemoryMebibytes(of: stack.pid(of: "identity-api"))
    stack.signal("face-matching-worker", SIGCONT)
    return [
        Figure("uploads_per_second", Double(accepted) / seconds, unit: "nine-photo uploads/s"),
        Figure("uploads_accepted", Double(accepted), unit: "of \(uploadCount)", bar: Double(uploadCount)),
        Figure("identity_api_peak_memory", peak, unit: "MiB at \(concurrentUploads) uploads at once", bar: 150, moreIsBetter: false),
    ]
}

/// Waits until face-matching-worker has decided every upload, so that no measured sign-in waits behind one.
///
/// - Throws: `DeadlineExceeded` when the worker decides no upload within two minutes; there is no limit for all uploads, because their time
///   depends on the machine.
private func drainFigures(_ stack: Stack) async throws -> [Figure] {
    let start = ContinuousClock.now
    var undecided = uploadCount
    while undecided > 0 {
        let before = undecided
        undecided = try await eventually("face-matching-worker decides uploads: \(stack.tail(of: "face-matching-worker"))") {
            try await Task.sleep(for: .milliseconds(250))
            let count = try await stack.database.psql("SELECT count(*) FROM sessions WHERE state IN ('received', 'processing')")
            return Int(count).flatMap { $0 < before ? $0 : nil }
        }
    }
    let seconds = (ContinuousClock.now - start).seconds
    let succeeded = try await stack.database.psql("SELECT count(*) FROM sessions WHERE state = 'succeeded'")
    return [
        Figure("sign_ups_succeeded", Double(succeeded) ?? .nan, unit: "of \(uploadCount)", bar: Double(uploadCount)),
        Figure("sign_ups_decided_per_second", Double(uploadCount) / seconds, unit: "sign-ups/s"),
    ]
}

/// Measures sign-ins to one account, one after the other: the time from the start of the request to the push at the emulator.
private func latencyFigures(_ stack: Stack) async throws -> [Figure] {
    let owner = try await Phone.make(stack)
    let email = "latency-\(UUID().uuidString)@example.org"
    _ = try await owner.enrol(email: email)
    var milliseconds: [Double] = []
    for _ in 0..<signInCount {
        let phone = try await Phone.make(stack)
        // Every sign-in uses the same three photos; without this they would be refused as a replay.
        try await stack.database.psql("DELETE FROM face_photo_hashes")
        let start = ContinuousClock.now
        let answer = try await phone.signIn(email: email, faces: Photos.sameFace)
        _ = try await phone.pushes()
        milliseconds.append((ContinuousClock.now - start).seconds * 1000)
        guard try await phone.outcome(of: answer)["state"].text == "succeeded" else {
            throw DeadlineExceeded(description: "a sign-in that is measured was refused")
        }
    }
    milliseconds.sort()
    return [
        Figure("sign_in_to_push_p50", milliseconds[signInCount / 2], unit: "ms", moreIsBetter: false),
        Figure("sign_in_to_push_p99", milliseconds[signInCount * 99 / 100], unit: "ms", moreIsBetter: false),
    ]
}

/// Returns the peak resident memory of a process in MiB (`VmHWM` of /proc); infinity when it cannot be read.
func peakMemoryMebibytes(of pid: Int32?) -> Double {
    guard let pid, let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return .infinity }
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Double($0.split(separator: " ").dropFirst().first ?? "") }.map { $0 / 1024 } ?? .infinity
}

extension Duration {
    /// The duration in seconds.
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
