import EventBus
import FaultLedger
import PostgresClient
import WireFormat

/// Takes the second effect of work: the effect of the event that was published with the first one.
struct DoneHandler: EventHandler {
    let postgres: PostgresClient

    func handle(_ event: Envelope<FaultDone>, _ context: HandlerContext) async throws {
        let run = HandlerRun(id: event.body.id, stage: .done, delivery: context.deliveryCount)
        try await Ledger(postgres).start(run)
        _ = try await context.commit { transaction in
            try await Ledger(transaction).takeEffect([run.id], stage: .done, delivery: run.delivery)
        }
    }
}

/// Takes the effects of work in batches, for long backlogs.
struct WorkBatchHandler: EventBatchHandler {
    func handle(_ events: [Envelope<FaultWork>], in transaction: PostgresTransaction) async throws {
        try await Ledger(transaction).takeEffect(events.map(\.body.id), stage: .work, delivery: 1)
    }
}
