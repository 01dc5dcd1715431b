import EventBus
import FaultLedger
import Foundation
import Synchronization
import TestSupport

/// A row of the fault matrix: injects faults while work is published and handled, and checks that each effect is taken exactly once. The
/// work is done by `fault-worker` on a ``Rig``, or is caused by clients of the whole system.
public struct FaultRow: Sendable {
    /// The name of the row, such as `F1`.
    public let id: String
    /// The fault in a few words.
    public let title: String
    /// The maximum time from the fault to the effect for 99 % of the work that was due, in seconds; nil when it is not limited.
    let recoveryBar: (@Sendable (Scale) -> Double)?
    private let body: Body

    private enum Body: Sendable {
        case rig(RigOptions, patience: Duration, @Sendable (Rig, Scale) async throws -> Void)
        case system(isClustered: Bool, @Sendable (Scale, _ isClustered: Bool, inout FaultReport) async throws -> Void)
    }

    /// Makes a row on a rig.
    ///
    /// - Parameters:
    ///   - patience: The maximum time from the end of all faults to the end of all work.
    ///   - body: Injects the faults. When it returns, all servers are restored, and the runner waits for the end of all work.
    init(
        _ id: String, _ title: String, recoveryBar: (@Sendable (Scale) -> Double)? = nil, options: RigOptions = RigOptions(),
        patience: Duration = .seconds(120), _ body: @escaping @Sendable (Rig, Scale) async throws -> Void
    ) {
        self.init(id, title, recoveryBar, .rig(options, patience: patience, body))
    }

    /// Makes a row on the whole system.
    ///
    /// - Parameter body: Starts the system, with Redis as one server or as a cluster, injects the faults, waits for the end of all work,
    ///   and writes its counts into the report.
    init(
        _ id: String, _ title: String, system body: @escaping @Sendable (Scale, _ isClustered: Bool, inout FaultReport) async throws -> Void
    ) {
        self.init(id, title, nil, .system(isClustered: false, body))
    }

    private init(_ id: String, _ title: String, _ recoveryBar: (@Sendable (Scale) -> Double)?, _ body: Body) {
        self.id = id
        self.title = title
        self.recoveryBar = recoveryBar
        self.body = body
    }

    /// The row on a cluster of three masters with a replica each.
    var onCluster: FaultRow {
        let clustered: Body
        switch body {
        case .rig(var options, let patience, let body):
            options.isClustered = true
            clustered = .rig(options, patience: patience, body)
        case .system(_, let body): clustered = .system(isClustered: true, body)
        }
        return FaultRow("\(id)c", "\(title), on a cluster", recoveryBar, clustered)
    }

    /// Runs the row on servers of its own.
    public func run(_ scale: Scale) async -> FaultReport {
        let start = ContinuousClock.now
        var report = FaultReport(self, scale)
        switch body {
        case .rig(let options, let patience, let body): await Self.run(body, options, patience, scale, &report)
        case .system(let isClustered, let body):
            do { try await body(scale, isClustered, &report) } catch { report.error = "\(error)" }
        }
        report.seconds = ((ContinuousClock.now - start) / .milliseconds(100)).rounded() / 10
        return report
    }

    private static func run(
        _ body: @Sendable (Rig, Scale) async throws -> Void, _ options: RigOptions, _ patience: Duration, _ scale: Scale,
        _ report: inout FaultReport
    ) async {
        do {
            let rig = try await Rig.start(options, scale)
            do {
                try await body(rig, scale)
                try await rig.settle(within: patience)
            } catch {
                report.error = "\(error)\n\(rig.tails())"
            }
            do {
                try await rig.settleAccounts(into: &report)
            } catch {
                report.error = (report.error.map { $0 + "\n" } ?? "") + "the ledger cannot be read: \(error)"
            }
            await rig.stop()
        } catch {
            report.error = "the servers did not start: \(error)"
        }
    }
}

extension FaultRow: CustomStringConvertible {
    /// The name and the title.
    public var description: String { "\(id) \(title)" }
}

extension Rig {
    /// Stops the producers and waits until every effect is taken, no entry is pending and no message of the outbox is open, so that no
    /// message can be handled twice any more.
    func settle(within patience: Duration = .seconds(120)) async throws {
        await stopProducing()
        try await wait(for: "every promise is kept and nothing is under way", within: patience) {
            guard try await ledger.balance().lost == 0 else { return false }
            for stream in Self.streams where try await status(stream).pending > 0 { return false }
            return try await owed() == 0
        }
    }

    /// Writes the totals of the ledger, the recovery times and the checks into a report.
    func settleAccounts(into report: inout FaultReport) async throws {
        let (moments, checks) = state.withLock { ($0.moments, $0.checks) }
        let balance = try await ledger.balance()
        report.published = balance.published
        report.effects = balance.effects
        report.lost = balance.lost
        report.duplicated = balance.duplicated
        report.rerun = balance.rerun
        report.checks = checks
        var recoveries: [Double] = []
        for moment in moments { recoveries += try await ledger.recoveries(from: moment.date, pids: moment.pids) }
        recoveries.sort()
        report.recoveryP50 = recoveries.percentile(0.5)
        report.recoveryP99 = recoveries.percentile(0.99)
    }
}

extension [Double] {
    /// Returns the value at a share of the sorted values by nearest rank, rounded to thousandths; nil without values.
    fileprivate func percentile(_ share: Double) -> Double? {
        guard !isEmpty else { return nil }
        let rank = Int((share * Double(count)).rounded(.up))
        return (self[Swift.max(0, rank - 1)] * 1000).rounded() / 1000
    }
}
