import Foundation

@testable import MobileClient

/// Ends a process at a call of one of its ports: from then on, no call has an effect.
final class ProcessEnd: @unchecked Sendable {
    // All members are read and written under `lock`.
    private let lock = NSLock()
    private let last: Int?
    private let isHandled: Bool
    private var count = 0

    /// - Parameters:
    ///   - last: The number of the call at which the process ends; nil for one that does not.
    ///   - isHandled: Whether that call has its effect, of which the process does not learn.
    init(at last: Int? = nil, isHandled: Bool = false) {
        self.last = last
        self.isHandled = isHandled
    }

    var calls: Int { lock.withLock { count } }
    var hasEnded: Bool { lock.withLock { last.map { count >= $0 } ?? false } }

    func call() -> (hasEffect: Bool, hasResult: Bool) {
        lock.withLock {
            count += 1
            guard let last, count >= last else { return (true, true) }
            return (count == last && isHandled, false)
        }
    }
}

/// The credentials of an installation, which outlive its processes.
actor MemorySignIns {
    private(set) var current: String?
    private(set) var retired: [String] = []
    private(set) var log: [String] = []

    func begin(_ id: String) {
        if let current { retired.append(current) }
        current = id
    }

    func retire(_ id: String) {
        log.append("retire \(id)")
        guard current == id else { return }
        current = nil
        retired.append(id)
    }

    func discard(_ id: String) {
        log.append("discard \(id)")
        retired.removeAll { $0 == id }
    }

    func revoke() { current = nil }

    func note(_ text: String) { log.append(text) }
}

/// A process's access to the credentials.
struct GatedSignIns: TokenRegistrar.SignIns {
    let signIns: MemorySignIns
    let devices: FakeDevices
    let end: ProcessEnd

    func current() async -> String? { end.call().hasEffect ? await signIns.current : nil }

    func retired() async -> [String] { end.call().hasEffect ? await signIns.retired : [] }

    func retire(_ id: String) async {
        if end.call().hasEffect { await signIns.retire(id) }
    }

    func logOut(_ id: String, installation: String?) async throws(HeliographError) {
        let call = end.call()
        guard call.hasEffect else { throw HeliographError(.cancelled, "the process has ended") }
        guard await signIns.retired.contains(id) else { throw HeliographError(.signedOut, "there is no credential") }
        await signIns.note("log out \(id)")
        try await devices.logOut(id)
        guard call.hasResult else { throw HeliographError(.cancelled, "the process has ended") }
    }

    func discard(_ id: String) async {
        if end.call().hasEffect { await signIns.discard(id) }
    }
}

/// A process's access to files.
struct GatedFiles: GuardedFiles {
    let end: ProcessEnd

    func access<Result>(_ access: FileAccess, _ body: () throws -> Result) throws -> Result {
        let call = end.call()
        guard call.hasEffect else { throw CocoaError(.userCancelled) }
        let result = try body()
        guard call.hasResult else { throw CocoaError(.userCancelled) }
        return result
    }
}
