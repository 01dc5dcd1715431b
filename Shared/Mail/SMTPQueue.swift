internal import AsyncPrimitives
internal import Synchronization

/// The mails that wait for a connection, and the threads that take them; a thread has one connection.
final class SMTPQueue: Sendable {
    private struct State {
        /// Oldest first.
        var jobs: [SMTPJob] = []
        /// The number of threads, and of threads that wait for a job.
        var threads = 0
        var idle = 0
        /// The time at which mails in progress are given up; nil before the shutdown.
        var closeDeadline: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    /// What ``SMTPClient/takesInternationalAddresses`` says.
    let international = Mutex<Bool?>(nil)
    private let maxThreads: Int
    private let maxJobs: Int
    private let wakeUps = CountingSemaphore()
    /// Opens when the queue is closed and no thread is left.
    private let ended = AsyncLatch()

    init(maxThreads: Int, maxJobs: Int) {
        self.maxThreads = maxThreads
        self.maxJobs = maxJobs
    }

    /// Adds a job; ends it at once when there are too many, or after a shutdown.
    ///
    /// - Parameter startThread: Starts a thread that calls ``next()`` until it returns nil; returns whether it could.
    func add(_ job: SMTPJob, startThread: () -> Bool) {
        let (refusal, needsThread) = state.withLock { state -> (String?, Bool) in
            if state.closeDeadline != nil { return ("the mail client was shut down", false) }
            if state.jobs.count >= maxJobs { return ("too many mails wait to be sent", false) }
            state.jobs.append(job)
            if state.idle > 0 {
                state.idle -= 1
                wakeUps.signal()
                return (nil, false)
            }
            guard state.threads < maxThreads else { return (nil, false) }
            state.threads += 1
            return (nil, true)
        }
        if let refusal { return job.abandon(refusal) }
        guard needsThread, !startThread() else { return }
        // It leaves the queue, which jobs that no thread takes would fill for good; unless another thread has taken it.
        let mustAbandon = state.withLock { state in
            state.jobs.firstIndex { $0 === job }.map { state.jobs.remove(at: $0) } != nil
        }
        threadEnded()
        if mustAbandon { job.abandon("the system gives no more threads") }
    }

    /// Waits for a job on a thread of the queue; nil when the thread is to end, which it then reports by ``threadEnded()``.
    func next() -> SMTPJob? {
        while true {
            let (job, isClosed) = state.withLock { state -> (SMTPJob?, Bool) in
                if !state.jobs.isEmpty { return (state.jobs.removeFirst(), false) }
                if state.closeDeadline == nil { state.idle += 1 }
                return (nil, state.closeDeadline != nil)
            }
            if job != nil || isClosed { return job }
            wakeUps.wait()
        }
    }

    func threadEnded() {
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0 && state.closeDeadline != nil
        }
        if isLast { ended.open() }
    }

    /// Whether mails in progress are to be given up.
    var isOver: Bool { state.withLock { $0.closeDeadline }.map { $0 <= .now } ?? false }

    /// Ends the jobs that wait, refuses later ones, and lets the threads end; a second call may only shorten the grace.
    func close(grace: Duration) {
        let (jobs, isEmpty) = state.withLock { state in
            let deadline = ContinuousClock.now + grace
            state.closeDeadline = min(state.closeDeadline ?? deadline, deadline)
            for _ in 0..<state.idle { wakeUps.signal() }
            state.idle = 0
            defer { state.jobs = [] }
            return (state.jobs, state.threads == 0)
        }
        for job in jobs { job.abandon("the mail client was shut down") }
        if isEmpty { ended.open() }
    }

    /// Waits until the threads have ended.
    func waitUntilEnded() async {
        // The wait of a latch ends early when the task is cancelled; this one is bounded by the grace.
        await Task { await ended.wait() }.value
    }
}
