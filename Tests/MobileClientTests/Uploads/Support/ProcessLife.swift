import Foundation

@testable import MobileClient

/// The life of a simulated process: it ends at the call of a port with a given number, and then reaches nothing outside any more.
final class ProcessLife: Sendable {
    private struct Contents {
        var calls = 0
        var isOver = false
        var watcher: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let contents = Locked(Contents())

    /// - Parameter limit: The call at which the process ends.
    init(endsAt limit: Int = .max) { self.limit = limit }

    var isOver: Bool { contents.withLock(\.isOver) }

    /// Whether a call of a port reaches what is outside of the process.
    func mayGoOn() -> Bool {
        let (mayGoOn, watcher) = contents.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard !state.isOver else { return (false, nil) }
            state.calls += 1
            guard state.calls >= limit else { return (true, nil) }
            state.isOver = true
            defer { state.watcher = nil }
            return (false, state.watcher)
        }
        watcher?.resume()
        return mayGoOn
    }

    func end() {
        let watcher = contents.withLock { state in
            state.isOver = true
            defer { state.watcher = nil }
            return state.watcher
        }
        watcher?.resume()
    }

    /// Returns when the process has ended.
    func over() async {
        await withCheckedContinuation { continuation in
            let isOver = contents.withLock { state in
                if !state.isOver { state.watcher = continuation }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }
}

/// Files of a simulated process, on a disk that may have no space.
struct MortalFiles: GuardedFiles {
    let life: ProcessLife
    var isDiskFull = Locked(false)

    func access<Result>(_ access: FileAccess, _ body: () throws -> Result) throws -> Result {
        guard life.mayGoOn() else { throw CocoaError(.userCancelled) }
        if case .write = access, isDiskFull.withLock({ $0 }) { throw CocoaError(.fileWriteOutOfSpace) }
        return try body()
    }
}
