import Foundation
import TestSupport

/// Measures image jobs through the whole system as processes: concurrent submissions, and the time from a finished picture to its
/// push.
func benchmarkJobs() async throws -> [Figure] {
    // One phone submits in place of a hundred, so the limits per address and account are raised.
    let stack = try await Stack.start(
        fsync: true,
        settings: [
            "UPLOAD_CONCURRENCY": "\(2 * concurrentSubmissions)", "UPLOAD_CONCURRENCY_PER_ADDRESS": "\(concurrentSubmissions)",
            "RATE_LIMIT_ORDERS_PER_MINUTE": "0",
        ])
    let phone = try await Phone.make(stack)
    let token = try await phone.accessToken()
    return try await submissionFigures(phone, token) + notificationFigures(phone, token)
}

private let concurrentSubmissions = 100
private let submissionRounds = 3
private let pictureBytes = 2 << 20
private let toldCount = 40

/// Measures 100 concurrent submissions of 2 MB each, from one phone; a submission ends with its 202.
private func submissionFigures(_ phone: Phone, _ token: String) async throws -> [Figure] {
    let picture = try padded(Photos.load(Photos.front[0]), to: pictureBytes)
    // The worker is stopped meanwhile, because it would compete for the cores.
    phone.stack.signal("image-worker", SIGSTOP)
    var times: [Double] = []
    var accepted = 0
    for _ in 0..<submissionRounds {
        let answers = try await withThrowingTaskGroup(of: (status: Int, milliseconds: Double).self) { group in
            for _ in 0..<concurrentSubmissions {
                group.addTask {
                    let start = ContinuousClock.now
                    let answer = try await phone.submit(picture, template: "vintage", bearer: token)
                    return (answer.status, (ContinuousClock.now - start) / .milliseconds(1))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        accepted += answers.count { $0.status == 202 }
        times += answers.map(\.milliseconds)
    }
    // The submitted jobs are ended unprocessed, because the next measurement would wait behind them.
    try await phone.stack.database.psql(
        "UPDATE image_jobs SET status = 'failed', error_code = 'timeout', error_message = 'timeout', completed_at = now()")
    phone.stack.signal("image-worker", SIGCONT)
    times.sort()
    let all = concurrentSubmissions * submissionRounds
    return [
        Figure("submissions_accepted", Double(accepted), unit: "of \(all) of 2 MB", bar: Double(all)),
        Figure("submit_p50", times[all / 2], unit: "ms, \(concurrentSubmissions) at once", moreIsBetter: false),
        Figure("submit_p99", times[all * 99 / 100], unit: "ms, \(concurrentSubmissions) at once", moreIsBetter: false),
    ]
}

/// Measures single jobs, one after the other: the time from the transaction that completes a job to its push at the emulator.
private func notificationFigures(_ phone: Phone, _ token: String) async throws -> [Figure] {
    let picture = try Photos.load(Photos.front[0])
    // The sign-up and the sign-in had a push each.
    let before = try await phone.pushes(count: 2).count
    var milliseconds: [Double] = []
    for number in 1...toldCount {
        let answer = try await phone.submit(picture, template: "vintage", bearer: token)
        _ = try await phone.pushes(count: before + number)
        let arrived = Date().timeIntervalSince1970
        let completed = try await phone.stack.database.psql(
            "SELECT extract(epoch FROM completed_at) FROM image_jobs WHERE id = '\(answer.jobID)'")
        guard let completed = Double(completed) else {
            throw DeadlineExceeded(description: "job \(number) was told of before it was completed")
        }
        milliseconds.append((arrived - completed) * 1000)
    }
    milliseconds.sort()
    return [
        Figure("completed_to_push_p50", milliseconds[toldCount / 2], unit: "ms", moreIsBetter: false),
        Figure("completed_to_push_p99", milliseconds[toldCount * 99 / 100], unit: "ms", moreIsBetter: false),
    ]
}

/// Returns a JPEG file lengthened by comments, which decoders skip.
private func padded(_ jpeg: [UInt8], to count: Int) -> [UInt8] {
    var file = Array(jpeg.prefix(2))
    var missing = count - jpeg.count
    while missing > 4 {
        let length = min(missing, 0xFFFF)
        file += [0xFF, 0xFE, UInt8((length - 2) >> 8), UInt8((length - 2) & 0xFF)] + Array(repeating: 0x20, count: length - 4)
        missing -= length
    }
    return file + jpeg.dropFirst(2)
}
