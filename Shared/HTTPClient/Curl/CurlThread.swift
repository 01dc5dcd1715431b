#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Runs blocking work, such as driving libcurl, on a dedicated thread.
package enum CurlThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts a detached thread that runs `body` and ends.
    ///
    /// - Returns: Whether the thread was created; if not, `body` is not run.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(body))
        let isStarted = create(passing: body.toOpaque()) == 0
        if !isStarted { body.release() }
        return isStarted
    }

    private static func create(passing argument: UnsafeMutableRawPointer) -> Int32 {
        #if canImport(Darwin)
            var thread: pthread_t?
            let status = pthread_create(&thread, nil, { CurlThread.enter($0) }, argument)
            if let thread { pthread_detach(thread) }
        #else
            var thread: pthread_t = 0
            let status = pthread_create(&thread, nil, { CurlThread.enter($0) }, argument)
            if status == 0 { pthread_detach(thread) }
        #endif
        return status
    }

    private static func enter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        blockSignals()
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
    }

    /// Blocks every POSIX signal on the thread: OpenSSL writes to sockets that the peer has closed, and the resulting SIGPIPE would
    /// end the process; a blocked one stays pending on this thread and does no harm.
    private static func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
