internal import Accounts
internal import CommandLineSupport
internal import FoundationEssentials

/// The workers' memory compared with the tables, as text or JSON.
///
/// A report is seconds old and faces come and go, so a worker agrees with the tables if its number of faces is one that the tables had
/// during the comparison.
struct FaceIndexComparison: Report {
    /// The request that the workers have to do; nil to compare only.
    var request: Int64?
    private(set) var workers: [FaceIndexWorker]
    private var stored: ClosedRange<Int>
    private let beganAt: Date
    /// The workers that ran at the beginning and do not any more.
    private var gone: Set<String> = []

    init(_ state: FaceIndexState) {
        workers = state.workers
        stored = state.stored...state.stored
        beganAt = state.takenAt
    }

    /// Takes another look.
    mutating func add(_ state: FaceIndexState) {
        let names = Set(state.workers.map(\.report.worker))
        gone = gone.union(workers.map(\.report.worker)).subtracting(names)
        workers = state.workers
        stored = min(stored.lowerBound, state.stored)...max(stored.upperBound, state.stored)
    }

    /// Whether all running workers have read the faces, and reported since the beginning.
    var isRead: Bool { !workers.isEmpty && workers.allSatisfy(hasRead) }

    /// Whether all running workers have, beyond that, as many faces as the tables.
    var isEqual: Bool { isRead && workers.allSatisfy { difference($0) == 0 } }

    /// A line for each worker that is not done.
    var progress: [PrintableText] {
        workers.filter { !hasRead($0) }.map { "\($0.report.worker): \(stateText($0))" }
    }

    private func hasRead(_ worker: FaceIndexWorker) -> Bool {
        guard worker.reportedAt > beganAt, let reindexed = worker.report.reindexed else { return false }
        return reindexed >= request ?? 0
    }

    /// The number of faces that a worker has in excess of the tables; negative when faces are missing.
    private func difference(_ worker: FaceIndexWorker) -> Int {
        let known = worker.report.faces + worker.report.unusable
        return known - min(max(known, stored.lowerBound), stored.upperBound)
    }

    private func stateText(_ worker: FaceIndexWorker) -> String {
        if let count = worker.report.facesRead { return "\(count) of \(stored.upperBound) read" }
        guard hasRead(worker) else { return "waits" }
        let difference = difference(worker)
        return difference == 0 ? "as the tables" : difference > 0 ? "\(difference) too many" : "\(-difference) missing"
    }

    func encode(to encoder: any Encoder) throws {
        let record: JSONRecord = [
            "request": request, "stored": stored.upperBound, "is_equal": isEqual, "gone": gone.sorted(),
            "workers": workers.map { worker -> JSONRecord in
                [
                    "worker": worker.report.worker, "faces": worker.report.faces, "unusable": worker.report.unusable,
                    "is_read": hasRead(worker), "difference": difference(worker), "reported_at": worker.reportedAt,
                ]
            },
        ]
        try record.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["WORKER", .right("FACES"), .right("UNUSABLE"), "STATE"])
        for worker in workers {
            let isEqual = hasRead(worker) && difference(worker) == 0
            table.add([
                .init(worker.report.worker), .count(worker.report.faces), .count(worker.report.unusable),
                isEqual ? .init(stateText(worker)) : .init(stateText(worker), .warning),
            ])
        }
        let ended: [PrintableText] = gone.sorted().map { "\($0) has ended meanwhile" }
        return ["stored faces  \(stored.upperBound)", ""] + (workers.isEmpty ? ["no worker runs any more"] : table.lines(style)) + ended
    }
}
