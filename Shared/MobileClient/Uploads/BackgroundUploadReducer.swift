internal import Foundation

/// Decides about the orders that a background session of iOS uploads: one task an order, one outcome an order, one call of each completion
/// handler, and one notification a job.
///
/// The record of an order is written before its task is made, its outcome before its file is removed, and the record is kept until the
/// outcome is acknowledged: after an end of the process between any two effects, ``Event/launched(_:)`` can continue from the stored state.
/// Only the session's own list has the tasks: they are not stored, so stored state cannot contradict the list.
enum BackgroundUploadReducer: Reducer {
    /// An order whose outcome is not acknowledged yet.
    struct Upload: Hashable, Sendable {
        enum Phase: Hashable, Sendable {
            /// It has no task, and gets one as soon as there is a bearer.
            case waiting
            /// It has no task, because no bearer was to be had; it asks again after a while, or when there is a reason to hope.
            case parked
            /// Its task is being made.
            case creating
            /// The session has its task.
            case live(Int)
            /// It has an outcome that is not written down yet.
            case saving(Ending)
            /// Its outcome is written down, and not acknowledged yet by who follows the job.
            case ended(Ending)
        }

        var phase = Phase.waiting
        var createdAt: Date
        /// The account that ordered, if the app has named it: with another account's bearer, the order would be made in that account's
        /// name.
        var owner: String?
        /// The tasks that ended without an outcome.
        var attempts = 0
        /// The seconds before which the next task does not begin.
        var delay = 0
        /// A bearer was refused, so the next one must be a new one.
        var needsFreshBearer = false
        /// The task has a bearer that was got after a refusal: a second refusal is final.
        var hasFreshBearer = false
    }

    /// The outcome of an order.
    enum Ending: Hashable, Codable, Sendable {
        case accepted(jobID: String)
        case refused(Refusal)
    }

    /// A call of the system that the app must answer by calling the completion handler with this number.
    struct WakeUp: Hashable, Sendable {
        var handler: Int
        /// The session has delivered all events for which the app was woken up.
        var isFinished: Bool
        /// The handler was called because its time was over.
        var isCalled = false
    }

    /// How far the decision about the notification of a completed job is.
    enum Notice: Hashable, Sendable {
        /// A push has some seconds to arrive first.
        case waiting
        /// The notification centre is asked whether a push has been shown.
        case checking
        /// The notification is being claimed in the store, so that it is not shown again after a restart.
        case claiming
        case decided
    }

    struct State: Hashable, Sendable {
        var isStarted = false
        var isForeground = false
        var uploads: [UUID: Upload] = [:]
        /// Whether a bearer is being fetched, and whether as a new one.
        var bearer: BearerFetch?
        var wakeUps: [WakeUp] = []
        /// The session finished before the app was told why it was woken up.
        var hasUnclaimedFinish = false
        var notices: [String: Notice] = [:]

        enum BearerFetch: Hashable, Sendable { case any, fresh }
    }

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        var effects: [Effect] =
            switch event {
            case .launched(let uploads): launch(&state, uploads)
            case .listed(let tasks, let now): reconcile(&state, tasks, now)
            case .enqueued(let id, let upload): enqueue(&state, id, upload)
            case .created(let id, let task): adopt(&state, id, task)
            case .notCreated(let id, let refusal): end(&state, id, .refused(refusal))
            case .completed(let id, let task, let outcome): complete(&state, id, task, outcome)
            case .bearer(let answer): useBearer(&state, answer)
            case .saved(let id, let ending): finish(&state, id, ending)
            case .notSaved(let id): state.uploads[id] == nil ? [] : [.saveLater(id)]
            case .saveAgain(let id): saveAgain(state, id)
            case .acknowledged(let id): acknowledge(&state, id)
            case .cancelled(let id): end(&state, id, .refused(.cancelled))
            case .signedOut: state.uploads.keys.sorted().flatMap { end(&state, $0, .refused(.signedOut)) }
            case .bearerDue: unpark(&state)
            case .swept(let now): expire(&state, now)
            case .wokenUp, .sessionFinished, .deadline, .foreground, .background: reduceWakeUps(&state, event)
            case .jobCompleted, .pushShown, .pushGraceEnded, .shown, .claimed: reduceNotices(&state, event)
            }
        effects += orderWaiting(&state)
        effects += callHandlers(&state)
        return effects
    }
}

extension UUID {
    /// Makes the order of effects the same in every run.
    static func precedes(_ left: UUID, _ right: UUID) -> Bool { left.uuidString < right.uuidString }
}

extension Sequence<UUID> {
    func sorted() -> [UUID] { sorted(by: UUID.precedes) }
}
