internal import AsyncPrimitives
internal import Synchronization

/// The thread of a ``FaceIndex``: a search takes milliseconds, and must not block the cooperative pool for them. It ends when it is
/// released.
package final class FaceIndexThread: SerialExecutor {
    private final class Queue: Sendable {
        /// Nil ends the thread.
        let jobs = Mutex<[UnownedJob?]>([])
        let count = CountingSemaphore()

        func add(_ job: UnownedJob?) {
            jobs.withLock { $0.append(job) }
            count.signal()
        }
    }

    private let queue = Queue()

    /// Starts the thread.
    package init() {
        let executor = asUnownedSerialExecutor()
        startDetachedThread { [queue] in
            while true {
                queue.count.wait()
                // An index has few jobs at a time: the first is removed without many to move.
                guard let job = queue.jobs.withLock({ $0.removeFirst() }) else { return }
                job.runSynchronously(on: executor)
            }
        }
    }

    deinit { queue.add(nil) }

    package func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job)) }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
