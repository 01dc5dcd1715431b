import ArgumentParser
import EventBus
import FaultLedger
import Foundation
import PostgresClient
import Synchronization
import WireFormat

/// The behaviour of the handlers of work. The last two are deliberate mistakes, which the harness has to detect.
enum Behaviour: String, ExpressibleByArgument {
    /// The effect, the mark and the event that follows are one transaction.
    case sound
    /// Sound, but every handler locks the same two rows, half of them in the reverse order: real deadlocks (40P01).
    case deadlocking
    /// Sound, but a third of the first runs end with a serialization failure (40001).
    case unserializable
    /// Every handler throws.
    case refusing
    /// The message is marked, and acknowledged, before its effect is taken.
    case acknowledgesEarly
    /// The effect is taken in a transaction of its own, before the message is marked.
    case marksLate
}

/// The error of a refusing handler.
struct Refusal: Error {}

struct HandlerOptions: Sendable {
    let behaviour: Behaviour
    let hold: Duration
    let dieAfterCommits: Int
    let stopInTransaction: Int
}

/// Takes the effect of work and publishes the event that follows.
struct WorkHandler: EventHandler {
    private final class Counts: Sendable {
        let transactions = Atomic(0)
        let commits = Atomic(0)
    }

    private let options: HandlerOptions
    private let postgres: PostgresClient
    private let counts = Counts()

    init(_ options: HandlerOptions, postgres: PostgresClient) {
        self.options = options
        self.postgres = postgres
    }

    func handle(_ event: Envelope<FaultWork>, _ context: HandlerContext) async throws {
        let run = HandlerRun(id: event.body.id, stage: .work, delivery: context.deliveryCount)
        try await Ledger(postgres).start(run)
        if event.body.kind == .poison { crash() }
        switch options.behaviour {
        case .acknowledgesEarly: try await acknowledgeEarly(event, context)
        case .marksLate: try await markLate(event, context)
        case .refusing: throw Refusal()
        case .sound, .deadlocking, .unserializable:
            try await Task.sleep(for: options.hold)
            _ = try await context.commit { transaction in
                try await disturb(run, transaction)
                try await takeEffect(of: event, transaction, delivery: context.deliveryCount)
                stopIfDue()
            }
            dieIfDue()
        }
    }

    /// Ends the process by SIGABRT, without the backtrace that the Swift runtime takes of a process that crashes.
    ///
    /// For the backtrace of a debug build the runtime reads all debug information. That takes seconds on a busy machine, in which the
    /// process keeps its connections and sends no heartbeat. The rows with frozen processes cover that state.
    private func crash() -> Never {
        signal(SIGABRT, SIG_DFL)
        abort()
    }

    private func takeEffect(
        of event: Envelope<FaultWork>, _ transaction: PostgresTransaction, delivery: Int
    ) async throws {
        try await Ledger(transaction).takeEffect([event.body.id], stage: .work, delivery: delivery)
        guard event.body.kind == .chained else { return }
        try await OutboxRepository(transaction).publish(FaultDone(id: event.body.id), causedBy: event)
    }

    private func disturb(_ run: HandlerRun, _ transaction: PostgresTransaction) async throws {
        let number = Int(run.id.uuid.15)
        switch options.behaviour {
        case .deadlocking:
            for row in number.isMultiple(of: 2) ? [1, 2] : [2, 1] {
                try await transaction.execute("UPDATE fault_hot_rows SET touched = touched + 1 WHERE id = \(Int32(row))")
            }
        case .unserializable where number.isMultiple(of: 3):
            guard try await Ledger(transaction).runCount(of: run.id) == 1 else { return }
            try await transaction.script("DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END $$")
        default: break
        }
    }

    /// Kills the process after the given number of commits, between a commit and its acknowledgement.
    private func dieIfDue() {
        guard options.dieAfterCommits > 0 else { return }
        if counts.commits.add(1, ordering: .relaxed).newValue >= options.dieAfterCommits { kill(getpid(), SIGKILL) }
    }

    /// Stops the process in the given transaction, whose locks it keeps until it continues or the server ends the transaction.
    private func stopIfDue() {
        guard options.stopInTransaction > 0 else { return }
        // To this thread: it would go on for a while after a signal to the process that another thread takes.
        if counts.transactions.add(1, ordering: .relaxed).newValue == options.stopInTransaction { raise(SIGSTOP) }
    }

    // MARK: Mistakes on purpose

    private func acknowledgeEarly(_ event: Envelope<FaultWork>, _ context: HandlerContext) async throws {
        guard try await context.commit({ _ in true }) == true else { return }
        let delivery = context.deliveryCount
        Task { [self] in
            try await Task.sleep(for: options.hold)
            try await postgres.withTransaction { try await takeEffect(of: event, $0, delivery: delivery) }
        }
    }

    private func markLate(_ event: Envelope<FaultWork>, _ context: HandlerContext) async throws {
        try await postgres.withTransaction { try await takeEffect(of: event, $0, delivery: context.deliveryCount) }
        try await Task.sleep(for: options.hold)
        dieIfDue()
        _ = try await context.commit { _ in }
    }
}
