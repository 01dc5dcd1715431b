internal import CLibPQ
internal import Glibc
internal import Synchronization

/// The state and the main function of the thread of an ``EventLoop``. It does not retain the loop, so that releasing the loop ends the
/// thread.
///
/// Sendable is unchecked: variables that are not behind the mutex or atomic are set before the thread starts, or used on it only.
final class EventLoopCore: @unchecked Sendable {
    enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct SharedQueue {
        var work: [Work] = []
        /// Whether the thread is asleep or about to sleep: only then does a wake-up need a system call.
        var isSleeping = false
        var isStopped = false
    }

    private static let maxEventsPerWait = 64
    /// The token of the eventfd; connections count from 1.
    private static let wakeToken: UInt64 = 0

    private let name: String
    private let epoll: Int32
    private let wakeup: Int32
    private let sharedQueue = Mutex(SharedQueue())
    private let thread = Atomic<UInt>(0)

    // Set before the thread starts.
    var serialExecutor: UnownedSerialExecutor?
    var taskExecutor: UnownedTaskExecutor?
    weak var loop: EventLoop?

    // On the thread only.
    weak var handler: (any EventLoopHandler)?
    var wakeTime = UInt64.max
    private var local: [Work] = []
    private var running: [Work] = []

    init(name: String) throws(PostgresError) {
        self.name = name
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard epoll >= 0, wakeup >= 0, add(wakeup, token: Self.wakeToken) else {
            throw PostgresError(code: .connectionLost, message: "epoll or eventfd failed with errno \(errno)")
        }
    }

    deinit {
        if epoll >= 0 { close(epoll) }
        if wakeup >= 0 { close(wakeup) }
    }

    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    func enqueue(_ work: Work) {
        if isCurrent {
            local.append(work)
            return
        }
        let mustWake = sharedQueue.withLock { sharedQueue in
            sharedQueue.work.append(work)
            defer { sharedQueue.isSleeping = false }
            return sharedQueue.isSleeping
        }
        if mustWake { eventfd_write(wakeup, 1) }
    }

    func stop() {
        let mustWake = sharedQueue.withLock { sharedQueue in
            sharedQueue.isStopped = true
            return sharedQueue.isSleeping
        }
        if mustWake { eventfd_write(wakeup, 1) }
    }

    // MARK: The thread

    func run() {
        heliograph_name_thread(name)
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.maxEventsPerWait) { events in
            while runIteration(events) {}
        }
    }

    /// Runs one iteration: run the enqueued work, let the handler send, sleep, and report events. False when the loop has stopped.
    private func runIteration(_ events: UnsafeMutableBufferPointer<epoll_event>) -> Bool {
        // The enqueued jobs may hold the last reference to the loop, and need it until they have returned.
        withExtendedLifetime(loop) {
            runEnqueued(events)
            handler?.loopDrained()
        }
        guard local.isEmpty else {
            wait(events, timeoutMilliseconds: 0)
            return true
        }
        let (isIdle, isStopped) = sharedQueue.withLock { sharedQueue in
            sharedQueue.isSleeping = sharedQueue.work.isEmpty
            return (sharedQueue.work.isEmpty, sharedQueue.isStopped)
        }
        if isIdle && isStopped { return false }
        wait(events, timeoutMilliseconds: isIdle ? timeoutMilliseconds() : 0)
        return true
    }

    private func runEnqueued(_ events: UnsafeMutableBufferPointer<epoll_event>) {
        sharedQueue.withLock { sharedQueue in
            sharedQueue.isSleeping = false
            swap(&sharedQueue.work, &running)
        }
        // Report socket events first, so that the work sees what arrived before it was enqueued, above all the end of a connection.
        if !running.isEmpty { wait(events, timeoutMilliseconds: 0) }
        runAll()
        // Runs, once, the jobs that these jobs enqueued. Later jobs run after the events, so that tasks cannot keep the sockets waiting.
        swap(&local, &running)
        runAll()
    }

    private func runAll() {
        guard let serialExecutor, let taskExecutor else { return }
        for work in running {
            switch work {
            case .job(let job): job.runSynchronously(isolatedTo: serialExecutor, taskExecutor: taskExecutor)
            case .closure(let body): body()
            }
        }
        running.removeAll(keepingCapacity: true)
    }

    private func wait(_ events: UnsafeMutableBufferPointer<epoll_event>, timeoutMilliseconds: Int32) {
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), timeoutMilliseconds)
        sharedQueue.withLock { $0.isSleeping = false }
        for event in events.prefix(Int(max(count, 0))) {
            let token = event.data.u64
            if token == Self.wakeToken {
                var value: eventfd_t = 0
                eventfd_read(wakeup, &value)
                continue
            }
            // An error or a hang-up is detected by reading.
            let isReadable = event.events & (EPOLLIN.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
            handler?.loopReady(token: token, isReadable: isReadable, isWritable: event.events & EPOLLOUT.rawValue != 0)
        }
        if wakeTime != .max {
            let now = LoopClock.now
            if now >= wakeTime {
                wakeTime = .max
                handler?.loopTimeReached(now)
            }
        }
    }

    private func timeoutMilliseconds() -> Int32 {
        guard wakeTime != .max else { return -1 }
        let now = LoopClock.now
        guard wakeTime > now else { return 0 }
        return Int32(min((wakeTime - now + 999_999) / 1_000_000, 60_000))
    }

    // MARK: File descriptors

    func add(_ descriptor: Int32, token: UInt64) -> Bool {
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: token))
        return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0
    }

    func setWantsWrite(_ wanted: Bool, _ descriptor: Int32, token: UInt64) {
        let interest = wanted ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        var event = epoll_event(events: interest, data: epoll_data_t(u64: token))
        epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
    }

    func remove(_ descriptor: Int32) {
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
    }
}
