#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A counting semaphore. `wait()` blocks, so it may be called on dedicated threads only.
public final class CountingSemaphore: Sendable {
    // Unchecked: any thread may use a POSIX semaphore, the pointer never changes, and only deinit frees it.
    private nonisolated(unsafe) let semaphore: UnsafeMutablePointer<sem_t>

    /// Makes a semaphore whose count is 0.
    public init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Adds one to the count, which ends a wait.
    public func signal() { sem_post(semaphore) }

    /// Blocks until the count is above 0, and takes one from it.
    public func wait() {
        // POSIX signals interrupt the wait.
        while sem_wait(semaphore) != 0 {}
    }
}
