internal import FCM
internal import FoundationEssentials
internal import Synchronization

/// Sends the pushes that the queue lets go, and passes on what became of them: one task for all, which waits for no answer.
///
/// It works in rounds. Each takes all the answers that have come since the last and a batch of pushes, so that the more there
/// is to do the less each costs.
final class PushDispatcher: Sendable {
    /// What is known of a push that is on its way.
    private enum Landing: Sendable {
        case answered(PushAnswer)
        /// It may ask again whether its installation may be sent to.
        case heard(Push)
    }

    private let sender: DeliverySender
    private let queue: SendQueue
    private let writer: OutcomeWriter
    private let news: Bell
    private let landings = Mutex<[Landing]>([])

    /// - Parameter news: Whose ring begins a round: the queue's, and rung when sends have ended.
    init(sender: DeliverySender, queue: SendQueue, writer: OutcomeWriter, news: Bell) {
        self.sender = sender
        self.queue = queue
        self.writer = writer
        self.news = news
    }

    /// Works until the queue is closed and nothing is on its way. When the task is cancelled, so are the sends; whoever cancels it
    /// rings.
    func run() async {
        var round = Round()
        while true {
            let landed = landings.withLock { landings in
                defer { landings = [] }
                return landings
            }
            land(landed, &round)
            let pushes = queue.next()
            let now = sender.clock()
            for push in pushes { launch(push, at: now, isCounted: false, &round) }
            if Task.isCancelled { for send in round.sends.values { send.cancel() } }
            let hasEnded = pass(on: &round)
            if queue.isOver { return }
            // A send that is refused at once has landed without a ring.
            if pushes.isEmpty, !hasEnded, landings.withLock({ $0.isEmpty }) {
                await news.wait()
            } else {
                // Others have work too: claiming what is sent next, for one.
                await Task.yield()
            }
        }
    }

    /// What one round has in hand.
    private struct Round {
        /// The sends that have not ended.
        var sends: [ObjectIdentifier: FCMSend] = [:]
        var endings: [(push: Push, verdict: DeliveryVerdict)] = []
        var paces: [SendQueue.Pace] = []

        mutating func end(_ push: Push, _ verdict: DeliveryVerdict, _ pace: SendQueue.Pace = .unknown) {
            endings.append((push, verdict))
            paces.append(pace)
        }
    }

    private func land(_ landings: [Landing], _ round: inout Round) {
        let now = sender.clock()
        var answers: [PushAnswer] = []
        for landing in landings {
            switch landing {
            case .answered(let answer):
                round.sends[ObjectIdentifier(answer.push)] = nil
                let (verdict, pace) = sender.judge(answer, at: now)
                round.end(answer.push, verdict, pace)
                answers.append(answer)
            case .heard(let push): launch(push, at: now, isCounted: true, &round)
            }
        }
        NotifierMetrics.sent(answers)
    }

    private func launch(_ push: Push, at now: Date, isCounted: Bool, _ round: inout Round) {
        switch sender.step(push, at: now, isCounted: isCounted) {
        case .end(let verdict): round.end(push, verdict)
        case .wait(let task):
            Task {
                await task.value
                landings.withLock { $0.append(.heard(push)) }
                news.ring()
            }
        case .send(let send):
            round.sends[ObjectIdentifier(push)] = send
            let start = ContinuousClock.now
            // The bell is rung when the turn of the transport has ended, for all that were answered in it.
            send.start { [self] result in
                let answer = PushAnswer(push: push, result: result, sentAt: now, time: .now - start)
                landings.withLock { $0.append(.answered(answer)) }
            }
        }
    }

    /// Passes on what has ended.
    ///
    /// - Returns: Whether anything has, so that there may be room for more.
    private func pass(on round: inout Round) -> Bool {
        guard !round.endings.isEmpty else { return false }
        writer.add(round.endings)
        queue.ended(round.paces)
        round.endings.removeAll(keepingCapacity: true)
        round.paces.removeAll(keepingCapacity: true)
        return true
    }
}
