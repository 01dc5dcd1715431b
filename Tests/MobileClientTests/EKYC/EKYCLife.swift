import Foundation

@testable import MobileClient

/// Ends a process at one of its calls to the outside: nothing that it does afterwards has an effect.
final class EKYCLife: @unchecked Sendable {
    // All members are read and written under `lock`.
    private let lock = NSLock()
    private let end: (step: Int, isAfter: Bool)?
    private var counter = 0
    private var isDead = false
    private var lockedFolder: String?
    private let died: AsyncStream<Void>.Continuation
    let death: AsyncStream<Void>

    struct Ended: Error {}

    /// - Parameter end: The call at which the process ends, and whether that call still has its effect; nil for none.
    /// - Parameter folder: The folder whose files can be neither read nor written until ``unlock()``.
    init(endsAt end: (step: Int, isAfter: Bool)? = nil, locking folder: String? = nil) {
        self.end = end
        lockedFolder = folder
        (death, died) = AsyncStream.makeStream(of: Void.self)
    }

    var isOver: Bool { lock.withLock { isDead } }
    /// The calls so far.
    var steps: Int { lock.withLock { counter } }

    func unlock() { lock.withLock { lockedFolder = nil } }

    private func canRead(_ file: URL) -> Bool {
        lock.withLock { !isDead && file.deletingLastPathComponent().lastPathComponent != lockedFolder }
    }

    /// Ends the process now.
    func kill() {
        lock.withLock { isDead = true }
        died.yield()
    }

    /// Whether the call that begins is performed, and whether the process lives after it.
    private func begin() -> (isPerformed: Bool, isSurvived: Bool) {
        lock.withLock {
            guard !isDead else { return (false, false) }
            counter += 1
            guard let end, counter == end.step else { return (true, true) }
            isDead = true
            died.yield()
            return (end.isAfter, false)
        }
    }

    func step(_ body: () async throws -> Void) async throws {
        let call = begin()
        if call.isPerformed { try await body() }
        if !call.isSurvived { throw Ended() }
    }

    private func stepNow<Result>(_ body: () throws -> Result) throws -> Result {
        let call = begin()
        let result = call.isPerformed ? try body() : nil
        guard call.isSurvived, let result else { throw Ended() }
        return result
    }

    func exchange(_ body: () throws(HeliographError) -> TransportResponse) async throws(HeliographError) -> TransportResponse {
        let call = begin()
        let answer: TransportResponse? = call.isPerformed ? try body() : nil
        guard call.isSurvived, let answer else { throw HeliographError(.cancelled, "The process has ended") }
        return answer
    }

    /// Time that passes as soon as it is waited for.
    ///
    /// - Parameter limit: Waits that are longer do not end.
    func instant(_ time: ManualTime, upTo limit: Duration? = nil) -> TimeSource {
        TimeSource(
            now: { time.now },
            sleep: { duration in
                guard !self.isOver else { throw CancellationError() }
                if let limit, duration > limit { try await Task.sleep(for: .seconds(3_600)) }
                await Task.yield()
                try Task.checkCancellation()
                time.advance(by: duration)
            })
    }

    var files: any FileOperations { Files(life: self) }

    /// Real files, whose changes are calls of the process.
    private struct Files: GuardedFiles {
        let life: EKYCLife

        func access<Result>(_ access: FileAccess, _ body: () throws -> Result) throws -> Result {
            switch access {
            case .read(let file), .write(let file): guard life.canRead(file) else { throw Ended() }
            case .list: guard !life.isOver else { throw Ended() }
            case .change: break
            }
            switch access {
            case .read, .list: return try body()
            case .write, .change: return try life.stepNow(body)
            }
        }
    }
}
