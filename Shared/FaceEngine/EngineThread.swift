internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Runs `body` on a new detached thread.
func startDetachedThread(_ body: @escaping @Sendable () -> Void) {
    let boxed = Unmanaged.passRetained(ThreadBody(body))
    // Not made by its initializer, which the compiler finds in a C module that is not imported here (Swift 6.3).
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    pthread_attr_init(attributes)
    pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer {
        pthread_attr_destroy(attributes)
        attributes.deallocate()
    }
    #if canImport(Darwin)
        var thread: pthread_t?
        let status = pthread_create(&thread, attributes, { threadMain($0) }, boxed.toOpaque())
    #else
        var thread = pthread_t()
        let status = pthread_create(&thread, attributes, { threadMain($0) }, boxed.toOpaque())
    #endif
    precondition(status == 0, "the system gives no more threads (error \(status))")
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}

private final class ThreadBody {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Transfers an engine from the thread that copied it to the thread that will use it.
///
/// Sendable is unchecked: the engine is a new copy without other references, and `take()` removes it under the lock, so no two threads
/// ever hold it.
final class EngineHandover: @unchecked Sendable {
    private let lock = Mutex(())
    private var engine: FaceEngine?

    init(copying original: FaceEngine) throws(FaceEngineError) { engine = try FaceEngine(copying: original) }

    func take() -> FaceEngine? {
        lock.withLock { _ in
            defer { engine = nil }
            return engine
        }
    }
}
