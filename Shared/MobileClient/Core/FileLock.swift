internal import Foundation

/// A lock between processes, and between tasks of one: `flock` on a file of its own, held for a few file operations at a time.
///
/// The system releases it when its process ends. iOS ends an app that is suspended while it holds a lock in a shared folder, which
/// is why no suspension point may be inside of ``withLock(_:)``. The file exists from the first use on: if it were removed, two processes
/// could hold the lock.
struct FileLock: Sendable {
    /// The attempts before the lock counts as stuck: about five seconds.
    private static let attempts = 2_500

    let file: URL
    /// Waits for the process that has the lock; a few milliseconds.
    let pause: @Sendable () async -> Void

    /// - Parameter file: The file, in a folder that exists when the lock is used.
    init(_ file: URL, pause: (@Sendable () async -> Void)? = nil) {
        self.file = file
        // In a separate task, because a cancelled task does not sleep, and data must be stored even after a cancellation.
        self.pause = pause ?? { await Task { try? await Task.sleep(for: .milliseconds(2)) }.value }
    }

    /// Runs a body while no other process is in one. Throws `storage` when another has had the lock for seconds.
    func withLock<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: () throws(HeliographError) -> Result
    ) async throws(HeliographError) -> Result {
        for _ in 0..<Self.attempts {
            if let descriptor = try acquire() {
                defer {
                    // Closing releases the lock too, but not where a child process has inherited the descriptor.
                    flock(descriptor, LOCK_UN)
                    close(descriptor)
                }
                return try body()
            }
            await pause()
        }
        throw HeliographError(.storage, "another process holds the lock \(file.lastPathComponent)", isRetryable: true)
    }

    /// The descriptor that has the lock; nil when another has it. Does not block: it runs on the cooperative pool.
    private func acquire() throws(HeliographError) -> Int32? {
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("opened", errno) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            guard code == EWOULDBLOCK else { throw failure("taken", code) }
            return nil
        }
        return descriptor
    }

    private func failure(_ action: String, _ code: Int32) -> HeliographError {
        HeliographError(.storage, "the lock \(file.lastPathComponent) cannot be \(action): \(code)")
    }
}
