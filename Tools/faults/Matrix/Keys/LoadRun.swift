import Foundation
import TestSupport

/// A run of `heliograph-load` that goes on until it is stopped.
final class LoadRun: Sendable {
    /// The counts of a run.
    struct Totals {
        /// The actions that were begun.
        var asked = 0
        /// The actions that reached their last stage, the push.
        var succeeded = 0
        /// The requests that were sent again, because the first one got no answer.
        var sentAgain = 0
        /// The reasons of failures, with their counts.
        var failures: [String] = []
        /// Whether the load itself reports no failure.
        var isClean = false
    }

    private let process: GuardedProcess
    private let log: String

    /// Starts a load, and returns when it has made its accounts and begins.
    ///
    /// - Parameter duration: The time after which it would end by itself, longer than it is needed.
    static func start(on stack: Stack, perSecond: Int, duration: String) async throws -> LoadRun {
        let command = [
            try PackageRoot.executable("heliograph-load"), "--url", stack.apiURL, "--fcm-emulator", stack.fcmURL,
            "--photos", try PackageRoot.file(".cache/photos"), "--rate", "\(perSecond)/s", "--duration", duration, "--warm-up", "0s",
            "--mix", "sign-in=3,sign-up=1,image=1,upload=4", "--errors-max", "0%", "--patience", "5m", "--retry", "60s", "--json",
        ]
        let log = stack.logFile(of: "heliograph-load")
        let run = LoadRun(process: try GuardedProcess(command, log: log), log: log)
        try await eventually(within: .seconds(600), "the load begins: \(run.text.suffix(500))") {
            if run.text.contains("Begins.") { return true }
            guard run.process.isRunning else { throw DeadlineExceeded(description: "the load ended before it began: \(run.text)") }
            return nil
        }
        return run
    }

    private init(process: GuardedProcess, log: String) {
        self.process = process
        self.log = log
    }

    var isRunning: Bool { process.isRunning }

    private var text: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Stops the load, waits until all that it began has ended, and reads its report.
    func finish() async throws -> Totals {
        process.signal(SIGTERM)
        try await eventually(within: .seconds(600), "the load ends: \(text.suffix(500))", isTrue: { !process.isRunning })
        guard let start = text.firstRange(of: "\n{") else {
            throw DeadlineExceeded(description: "the load gave no report: \(text.suffix(1000))")
        }
        let report = JSONAnswer.parse(Array(text[start.lowerBound...].utf8))
        var totals = Totals()
        for kind in report["kinds"].elements {
            let name = kind["kind"].text ?? ""
            totals.asked += Int(kind["asked"].number ?? 0)
            totals.succeeded += Int(kind["succeeded"].number ?? 0)
            for error in kind["errors"].elements {
                let reason = "\(error["reason"].text ?? "") × \(Int(error["count"].number ?? 0))"
                totals.failures.append("\(name) \(error["stage"].text ?? ""): \(reason)")
            }
        }
        for reason in ["no connection", "connection lost", "409 request_in_progress"] {
            totals.sentAgain += Int(report["retries"][reason].number ?? 0)
        }
        totals.isClean = report["ok"] == .bool(true)
        return totals
    }
}
