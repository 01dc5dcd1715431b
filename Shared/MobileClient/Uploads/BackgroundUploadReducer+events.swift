internal import Foundation

extension BackgroundUploadReducer {
    enum Event: Hashable, Sendable {
        // MARK: The process and the app

        /// The process has begun, with the orders of the store whose outcome is not acknowledged.
        case launched([UUID: Upload])
        /// The tasks of the session, after ``launched(_:)``.
        case listed([ListedTask], now: Date)
        /// The file and the record of a new order are written.
        case enqueued(UUID, Upload)
        case cancelled(UUID)
        case signedOut
        /// A bearer may be had again: a sign-in, the return of the network, or time.
        case bearerDue
        case swept(now: Date)
        case foreground
        case background

        // MARK: The session

        /// A task has ended.
        case completed(UUID, task: Int, Outcome)
        /// `handleEventsForBackgroundURLSession`, with a completion handler that the driver keeps under a number.
        case wokenUp(handler: Int)
        /// `urlSessionDidFinishEvents`.
        case sessionFinished
        /// The time that a wake-up may take is over.
        case deadline(handler: Int)

        // MARK: Outcomes of effects

        case created(UUID, task: Int)
        case notCreated(UUID, Refusal)
        case bearer(BearerAnswer)
        /// The outcome of an order is written; another one when the record had it before.
        case saved(UUID, Ending)
        case notSaved(UUID)
        case saveAgain(UUID)
        /// Who follows the job has written down the outcome of its order.
        case acknowledged(UUID)

        // MARK: Notifications

        case jobCompleted(String)
        /// A push about the end of a job was shown.
        case pushShown(String)
        case pushGraceEnded(String)
        case shown(String, Bool)
        case claimed(String, Bool)
    }

    enum Effect: Hashable, Sendable {
        case listTasks
        case fetchBearer(fresh: Bool)
        /// Sends ``Event/bearerDue`` a while later.
        case waitForBearer
        /// Makes the task of an order, with the bearer fetched last, to begin after so many seconds.
        case create(UUID, delay: Int)
        case cancelTask(Int)
        case saveAttempts(UUID, Int)
        case save(UUID, Ending)
        /// Sends ``Event/saveAgain(_:)`` some seconds later.
        case saveLater(UUID)
        case removeFile(UUID)
        /// Tells who follows the job how its order ended: once in a process, and again after a restart until it is acknowledged.
        case report(UUID, Ending)
        /// Keeps the record only so that no notification of its job is shown twice.
        case forget(UUID)
        /// Sends ``Event/deadline(handler:)`` when the time of a wake-up is over.
        case armDeadline(handler: Int)
        /// Calls a completion handler on the main thread.
        case callHandler(Int)
        /// Sends ``Event/pushGraceEnded(_:)`` some seconds later.
        case waitForPush(String)
        case checkShown(String)
        case claimNotice(String)
        case notify(String)
    }

    /// A task of the session, as its list shows it.
    struct ListedTask: Hashable, Sendable {
        var task: Int
        /// The order in the task's description; nil where that is not one.
        var id: UUID?
    }

    /// The meaning of a task's end for its order.
    enum Outcome: Hashable, Sendable {
        case accepted(jobID: String)
        case refused(Refusal)
        /// The bearer was refused.
        case unauthorized(Refusal)
        /// The outcome is unknown, or the API asks to come again.
        ///
        /// - Parameter isCounted: Whether the API has answered, so that the order ends after ``Limits/attempts`` such answers. A network
        ///   that is away is no reason to give up before the order has expired.
        case again(after: Int?, Refusal, isCounted: Bool)
    }

    enum BearerAnswer: Hashable, Sendable {
        /// A bearer of this account; nil where the app does not know which one it is.
        case ready(owner: String?)
        /// No bearer is to be had at present: there is no network, or the person is not signed in.
        case unavailable
    }

    enum Limits {
        /// The age at which an order expires, and so does its picture on the server.
        static let age: TimeInterval = 24 * 3_600
        /// The tasks without an outcome after which an answer of the API ends the order; with the delays below, two hours.
        static let attempts = 16
        /// The longest wait before a repetition, in seconds.
        static let delay = 900
        /// The longest wait where the API has not answered: on iOS, the session itself waits for the network.
        static let delayWithoutAnswer = 60
    }
}
