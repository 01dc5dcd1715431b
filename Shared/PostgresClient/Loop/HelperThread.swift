internal import Glibc

/// Runs blocking calls of libpq (connect, cancel) on a new thread each, never on the loop or the cooperative pool.
///
/// They are rare and bounded by the number of connections, so a thread for each costs less than a pool of idle threads.
enum HelperThread {
    /// Runs the body on a new thread.
    ///
    /// - Returns: false when the system refuses another thread.
    static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                body.run()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return false
        }
        return true
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
