internal import CLibPQ
internal import Glibc
internal import Synchronization

/// What the thread of an ``EventLoop`` runs. It does not hold the loop, so that releasing the loop ends the thread.
///
/// Sendable is unchecked: what is not behind the mutex or atomic is set before the thread starts, or touched on it only.
final class EventLoopCore: @unchecked Sendable {
    enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        /// Whether the thread is about to sleep, or sleeps: only then is a wake-up worth a system call.
        var isSleeping = false
        var isStopped = false
    }

    private static let maxEventsPerWait = 64
    /// The token of the eventfd; connections count from 1.
    private static let wakeToken: UInt64 = 0

    private let name: String
    private let epoll: Int32
    private let wakeup: Int32
    private let inbox = Mutex(Inbox())
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
        let mustWake = inbox.withLock { inbox in
            inbox.work.append(work)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if mustWake { eventfd_write(wakeup, 1) }
    }

    func stop() {
        let mustWake = inbox.withLock { inbox in
            inbox.isStopped = true
            return inbox.isSleeping
        }
        if mustWake { eventfd_write(wakeup, 1) }
    }

    // MARK: The thread

    func run() {
        heliograph_name_thread(name)
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.maxEventsPerWait) { events in
            while turn(events) {}
        }
    }

    /// One turn: run what is enqueued, let the handler send, sleep, and hand out events.
    private func turn(_ events: UnsafeMutableBufferPointer<epoll_event>) -> Bool {
        // The jobs at hand may hold the last reference to the loop, and need it until they have returned.
        withExtendedLifetime(loop) {
            runEnqueued(events)
            handler?.loopDrained()
        }
        guard local.isEmpty else {
            wait(events, timeoutMilliseconds: 0)
            return true
        }
        let (isIdle, isStopped) = inbox.withLock { inbox in
            inbox.isSleeping = inbox.work.isEmpty
            return (inbox.work.isEmpty, inbox.isStopped)
        }
        if isIdle && isStopped { return false }
        wait(events, timeoutMilliseconds: isIdle ? timeoutMilliseconds() : 0)
        return true
    }

    private func runEnqueued(_ events: UnsafeMutableBufferPointer<epoll_event>) {
        inbox.withLock { inbox in
            inbox.isSleeping = false
            swap(&inbox.work, &running)
        }
        // What had come on the sockets when the work was enqueued is known when it runs: that a connection has ended, above all.
        if !running.isEmpty { wait(events, timeoutMilliseconds: 0) }
        runAll()
        // What the work itself enqueued, once: the rest comes after the events, so that no task starves the sockets.
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
        inbox.withLock { $0.isSleeping = false }
        for event in events.prefix(Int(max(count, 0))) {
            let token = event.data.u64
            if token == Self.wakeToken {
                var value: eventfd_t = 0
                eventfd_read(wakeup, &value)
                continue
            }
            // An error or a hang-up is found by reading.
            let isReadable = event.events & (EPOLLIN.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
            handler?.loopReady(token: token, isReadable: isReadable, isWritable: event.events & EPOLLOUT.rawValue != 0)
        }
        if wakeTime != .max {
            let now = MonotonicClock.now
            if now >= wakeTime {
                wakeTime = .max
                handler?.loopTimeReached(now)
            }
        }
    }

    private func timeoutMilliseconds() -> Int32 {
        guard wakeTime != .max else { return -1 }
        let now = MonotonicClock.now
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
