internal import AsyncPrimitives
internal import FCM
internal import FoundationEssentials
internal import Synchronization

/// Sends the pushes that the queue releases, and passes their verdicts to the writer: one task for all, which waits for no answer.
///
/// It works in rounds. Each handles all answers that have come since the last round and sends a batch of pushes, so that the cost
/// per push falls with the load.
final class PushDispatcher: Sendable {
    /// The end of something that a push has waited for.
    private enum Completion: Sendable {
        /// FCM has answered.
        case answered(PushAnswer)
        /// The rate limit of its installation can be decided now.
        case rateKnown(QueuedPush)
    }

    private let sender: DeliverySender
    private let queue: SendQueue
    private let writer: OutcomeWriter
    private let keeper: LeaseKeeper
    private let wakeUp: AsyncSignal
    private let completions = Mutex<[Completion]>([])

    /// - Parameter wakeUp: Starts a round: signalled by the queue and the keeper, and when sends have ended.
    init(sender: DeliverySender, queue: SendQueue, writer: OutcomeWriter, keeper: LeaseKeeper, wakeUp: AsyncSignal) {
        self.sender = sender
        self.queue = queue
        self.writer = writer
        self.keeper = keeper
        self.wakeUp = wakeUp
    }

    /// Runs until the queue is closed and nothing is in flight. Cancelling the task cancels the sends; the caller that cancels has to
    /// signal ``wakeUp``.
    func run() async {
        var round = Round()
        while true {
            let taken = completions.withLock { completions in
                defer { completions = [] }
                return completions
            }
            handle(taken, &round)
            let pushes = queue.next()
            let now = Date()
            for push in pushes { launch(push, at: now, isCounted: false, &round) }
            if Task.isCancelled { for (_, send) in round.sends.values { send.cancel() } }
            if keeper.takeRevocations() { for (push, send) in round.sends.values where push.lease.isRevoked { send.cancel() } }
            let hasEnded = flush(&round)
            if queue.isOver { return }
            // A send that is refused at once completes without a signal.
            if pushes.isEmpty, !hasEnded, completions.withLock({ $0.isEmpty }) {
                await wakeUp.waitDespiteCancellation()
            } else {
                // Lets other tasks run, such as those that claim the next deliveries.
                await Task.yield()
            }
        }
    }

    /// The sends in flight, and the results of the current round.
    private struct Round {
        /// The sends that have not ended.
        var sends: [ObjectIdentifier: (push: QueuedPush, send: FCMSend)] = [:]
        var endings: [OutcomeWriter.Entry] = []
        var paces: [SendQueue.Pace] = []

        mutating func end(_ push: QueuedPush, _ verdict: DeliveryVerdict, _ pace: SendQueue.Pace = .unknown) {
            endings.append(OutcomeWriter.Entry(push: push, verdict: verdict))
            paces.append(pace)
        }
    }

    private func handle(_ completions: [Completion], _ round: inout Round) {
        let now = Date()
        var answers: [PushAnswer] = []
        for completion in completions {
            switch completion {
            case .answered(let answer):
                round.sends[ObjectIdentifier(answer.push)] = nil
                let (verdict, pace) = sender.evaluate(answer, at: now)
                round.end(answer.push, verdict, pace)
                answers.append(answer)
            case .rateKnown(let push): launch(push, at: now, isCounted: true, &round)
            }
        }
        NotifierMetrics.sent(answers)
    }

    private func launch(_ push: QueuedPush, at now: Date, isCounted: Bool, _ round: inout Round) {
        switch sender.step(push, at: now, isCounted: isCounted) {
        case .end(let verdict): round.end(push, verdict)
        case .wait(let task):
            Task {
                await task.value
                completions.withLock { $0.append(.rateKnown(push)) }
                wakeUp.signal()
            }
        case .send(let send):
            round.sends[ObjectIdentifier(push)] = (push, send)
            let clock = sender.clock
            let start = clock.now
            // No signal here: the transport signals at the end of its iteration, for all sends that were answered in it.
            send.start { [self] result in
                let answer = PushAnswer(push: push, result: result, sentAt: now, time: clock.now - start)
                completions.withLock { $0.append(.answered(answer)) }
            }
        }
    }

    /// Passes the results of the round to the writer and the queue.
    ///
    /// - Returns: Whether there were any, so that there may be room for more pushes.
    private func flush(_ round: inout Round) -> Bool {
        guard !round.endings.isEmpty else { return false }
        writer.add(round.endings)
        queue.ended(round.paces)
        round.endings.removeAll(keepingCapacity: true)
        round.paces.removeAll(keepingCapacity: true)
        return true
    }
}
