internal import Foundation

/// A value that tasks and threads read and change in turn. The lock is held for the closure only, which must not wait.
final class Locked<Value: Sendable>: @unchecked Sendable {
    // `value` is read and written under `lock` only, and results that leave the lock are Sendable, like `value`.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Answer>(_ body: (inout Value) throws -> Answer) rethrows -> Answer {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
