@testable import MobileClient

/// One order on one device, with the API, the network, the app and the disk around it.
struct JobWorld: Hashable {
    enum ServerJob: Hashable { case running, completed, deleted }

    /// A request or an answer on its way. Requests outlive the process that sent them; their answers do not.
    enum Message: Hashable {
        case order, read, delete
        case ordered(id: Int)
        case state(ServerJob)
        case deleted
    }

    // The device.
    var state: JobReducer.State?
    var disk: JobReducer.Saved? = .init()
    var hasUpload = true
    /// Effects of the last event that have not been performed.
    var effects: [JobReducer.Effect] = []
    var messages: [Message] = []
    var orphans: [Message] = []

    // The API.
    var jobs: [ServerJob] = []
    var knowsKey = false
    var pushes = 0

    // The app.
    var deliveries = 0
    var outcomes: Set<JobUpdate.Outcome> = []
    var wasRemoved = false
    var deliveredAfterRemoval = false
    /// The app has acknowledged in this process.
    var hasAcknowledged = false

    // The environment.
    var isLate = false
    var crashes: Int
    var losses: Int
    var toggles: Int
    var cancels: Int
    var duplicates: Int
    /// The process has had a reason to look since the job ended.
    var wasTold = false
    let usesStream: Bool

    init(crashes: Int, losses: Int, toggles: Int, cancels: Int, duplicates: Int = 0, usesStream: Bool = false) {
        (self.crashes, self.losses, self.toggles, self.cancels) = (crashes, losses, toggles, cancels)
        (self.duplicates, self.usesStream) = (duplicates, usesStream)
        start(isLaunch: false)
    }

    static let picture = JobUpdate.Outcome.completed(.init())

    mutating func start(isLaunch: Bool) {
        state = disk.map { disk in
            var state = JobReducer.State()
            state.saved = disk
            state.maxPolls = 2
            state.usesStream = usesStream
            return state
        }
        deliveries = 0
        hasAcknowledged = false
        wasTold = jobs.last == .completed
        send(.started(isLaunch: isLaunch, isLate: isLate))
    }

    mutating func send(_ event: JobReducer.Event) {
        guard var state else { return }
        effects = JobReducer.reduce(&state, event) + effects
        self.state = state
    }

    /// Performs the next effect, as the driver does.
    mutating func perform() {
        let effect = effects.removeFirst()
        switch effect {
        case .save(let saved):
            // A removed task is not made again by a late change.
            guard disk != nil else { return }
            disk = saved
            if saved.phase != .ordering { hasUpload = false }
        case .order:
            // The driver does not send what the API would take for a new order.
            if isLate { send(.deadlinePassed) } else { messages.append(.order) }
        case .read: messages.append(.read)
        case .delete: messages.append(.delete)
        case .emit(.ended(let outcome)):
            deliveries += 1
            outcomes.insert(outcome)
            deliveredAfterRemoval = deliveredAfterRemoval || wasRemoved
        case .remove:
            disk = nil
            hasUpload = false
            wasRemoved = true
        case .emit, .openStream, .closeStream, .setPollTimer, .setRetryTimer, .stopTimer: break
        }
    }

    /// The API handles a request; a repetition of the order is answered with its job while the key is known.
    mutating func handle(_ request: Message) -> Message {
        switch request {
        case .order:
            if !knowsKey { jobs.append(.running) }
            knowsKey = !isLate
            return .ordered(id: jobs.count)
        case .read: return .state(jobs.last ?? .deleted)
        case .delete:
            if !jobs.isEmpty { jobs[jobs.count - 1] = .deleted }
            return .deleted
        default: return request
        }
    }

    /// The process hears an answer; nil is a failure of the network.
    mutating func hear(_ answer: Message?, of request: JobReducer.Request?) {
        switch (answer, request) {
        case (.ordered(let id), _): send(.orderAnswered(.accepted("\(id)")))
        case (.state(.running), _): send(.readAnswered(.active(status: nil)))
        case (.state(.completed), _): send(.readAnswered(.ended(Self.picture)))
        case (.state(.deleted), _): send(.readAnswered(.ended(.expired)))
        case (.deleted, _): send(.deleteAnswered(.gone))
        case (_, .order): send(.orderAnswered(.unknown(retryAfter: nil)))
        case (_, .read): send(.readAnswered(.unknown(retryAfter: nil)))
        case (_, .delete): send(.deleteAnswered(.unknown(retryAfter: nil)))
        default: break
        }
    }
}
