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
