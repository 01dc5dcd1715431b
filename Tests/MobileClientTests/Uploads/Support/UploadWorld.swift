import Foundation

@testable import MobileClient

/// The orders, the store, the session of the system, the server and the process around a ``BackgroundUploadReducer``.
struct UploadWorld: Hashable {
    typealias Machine = BackgroundUploadReducer

    /// How often what may go wrong goes wrong, so that the world ends.
    struct Budget: Hashable {
        var crashes = 0
        var forceQuits = 0
        var lostAnswers = 0
        var repeatedPosts = 0
        var refusedBearers = 0
        var missingBearers = 0
        var overloads = 0
        var failedSaves = 0
        var omittedTasks = 0
        var wakeUps = 0
        var deadlines = 0
        var moves = 0
        var cancellations = 0
        var signOuts = 0
        var otherAccounts = 0
        var expiries = 0
    }

    enum Record: Hashable {
        case none, open
        case ended(Machine.Ending)
        case acknowledged
    }

    struct Order: Hashable {
        /// What the app has done to order: nothing, written the file, written the record, told the reducer.
        var stage = 0
        var record = Record.none
        var hasFile = false
        /// Whether the server refuses what the order contains.
        var isRefusable = false
        var hasJob = false
        /// The reports in this process.
        var reports = 0
        /// What the tracker of jobs has written down.
        var received: Machine.Ending?
        /// The bearer of a task was refused in this process.
        var isUnauthorized = false
        /// An answer of the server was delivered to this process.
        var isAnswered = false
    }

    struct SessionTask: Hashable {
        var ref: Int
        var order: Int
        /// What its callback will say; nil while it runs.
        var outcome: Machine.Outcome?
    }

    /// The wake-up that the system owes, because tasks ended while the app was not in the foreground.
    struct Batch: Hashable {
        var isOwed = false
        var isWoken = false
        var isFinished = false
    }

    /// What an end of the process loses.
    struct Process: Hashable {
        var state = Machine.State()
        var queue: [Machine.Event] = []
        var effects: [Machine.Effect] = []
        var asksForBearer: Bool?
        /// A bearer was fetched in place of the one that was refused last.
        var hasFreshBearer = false
        var saveTimers: Set<UUID> = []
        /// The outcomes that the tracker of jobs has been told, and has not acknowledged.
        var reported: [UUID: Machine.Ending] = [:]
        var deadlines: Set<Int> = []
        /// The handlers that the system waits for.
        var handlers: Set<Int> = []
        /// Those for which the session has delivered all events.
        var delivered: Set<Int> = []
        /// Those whose time was over.
        var overdue: Set<Int> = []

        var isIdle: Bool { effects.isEmpty && queue.isEmpty }
    }

    static let ids = (0..<3).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0))) }
    static let start = Date(timeIntervalSince1970: 0)

    var budget: Budget
    var orders: [Order]
    var tasks: [SessionTask] = []
    var nextRef = 0
    var nextHandler = 0
    var batch = Batch()
    var strayFinish = false
    var isOld = false
    var process: Process?
    /// What was seen to be wrong when it happened.
    var fault: String?

    init(orders: Int, budget: Budget) {
        self.budget = budget
        self.orders = Array(repeating: Order(), count: orders)
    }

    var now: Date { isOld ? Self.start + Machine.Limits.age : Self.start }

    static func index(_ id: UUID) -> Int { ids.firstIndex(of: id) ?? 0 }
    static func job(_ order: Int) -> String { "job \(order)" }

    // MARK: The process

    /// Begins a process: it loads the open records, and sweeps files that none names.
    mutating func launch(inForeground: Bool) {
        var process = Process()
        process.state.isForeground = inForeground
        var uploads: [UUID: Machine.Upload] = [:]
        for index in orders.indices {
            switch orders[index].record {
            case .open: uploads[Self.ids[index]] = Machine.Upload(createdAt: Self.start)
            case .ended(let ending): uploads[Self.ids[index]] = Machine.Upload(phase: .ended(ending), createdAt: Self.start)
            case .none, .acknowledged: orders[index].hasFile = false
            }
            if orders[index].stage > 0 { orders[index].stage = 3 }
        }
        process.queue = [.launched(uploads)]
        self.process = process
        run()
    }

    mutating func endProcess() {
        process = nil
        strayFinish = false
        for index in orders.indices {
            orders[index].isAnswered = false
            orders[index].isUnauthorized = false
            orders[index].reports = 0
        }
    }

    mutating func send(_ event: Machine.Event) {
        process?.queue.append(event)
        run()
    }

    /// Lets the reducer handle events until there is an effect.
    mutating func run() {
        while var current = process, current.effects.isEmpty, !current.queue.isEmpty {
            let event = current.queue.removeFirst()
            current.effects = Machine.reduce(&current.state, event)
            process = current
        }
    }
}
