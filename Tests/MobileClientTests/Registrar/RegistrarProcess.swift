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
    enum Fault {
        /// Nothing can be read.
        case locked
        /// A credential can be kept for its logout, and the one in use cannot be removed.
        case unchangeable
    }

    private var fault: Fault?
    private(set) var current: String?
    private(set) var retired: [String] = []
    private(set) var log: [String] = []

    func begin(_ id: String) {
        if let current { retired.append(current) }
        current = id
    }

    func retire() -> String? {
        guard let id = current else { return nil }
        log.append("retire \(id)")
        keep(id)
        current = nil
        return id
    }

    private func keep(_ id: String) { retired = retired.filter { $0 != id } + [id] }

    /// What a locked device, or one whose disk fails, makes of a call.
    func check(toRemove: Bool = false) throws(HeliographError) {
        if fault == .locked { throw HeliographError(.storage, "the device is locked") }
        guard toRemove, fault == .unchangeable, let current else { return }
        keep(current)
        throw HeliographError(.storage, "the credential cannot be removed")
    }

    func setFault(_ fault: Fault?) { self.fault = fault }

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

    func current() async throws(HeliographError) -> String? {
        guard end.call().hasEffect else { return nil }
        try await signIns.check()
        return await signIns.current
    }

    func retired() async -> [String] { end.call().hasEffect ? await signIns.retired : [] }

    func retire() async throws(HeliographError) -> String? {
        let call = end.call()
        guard call.hasEffect else { throw HeliographError(.cancelled, "the process has ended") }
        try await signIns.check(toRemove: true)
        let id = await signIns.retire()
        guard call.hasResult else { throw HeliographError(.cancelled, "the process has ended") }
        return id
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
