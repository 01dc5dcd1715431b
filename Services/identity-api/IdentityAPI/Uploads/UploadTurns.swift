internal import NIOCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The turns in which pieces of uploads are checked, hashed, sealed and written to the local disk: on half of the cores, and first the
/// pieces of the site (see ``IPAddress/site``) that has sent the least of late.
///
/// Without turns a small upload shares the cores with all large ones: forty transfers of a few addresses made a sign-in of 60 ms take a
/// second. The server reads no more from a client whose piece waits.
final class UploadTurns: Sendable {
    /// The half-life of the bytes that count for a site.
    private static let halfLife = Duration.seconds(10)
    /// The number of sites from which on those with few bytes are forgotten.
    private static let rememberedSites = 4_096
    /// The bytes of such a site.
    private static let negligible = 65_536.0

    private struct Usage {
        var bytes = 0.0
        var at: ContinuousClock.Instant

        func bytes(at now: ContinuousClock.Instant) -> Double { bytes * exp2(-((now - at) / UploadTurns.halfLife)) }
    }

    private struct Waiter {
        let id: UInt64
        let site: IPAddress
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var running = 0
        var waiters: [Waiter] = []
        var nextID: UInt64 = 0
        var used: [IPAddress: Usage] = [:]
        /// The number of sites at which the next ones are forgotten: twice as many as were left the last time, so that a flood of sites
        /// does not make each piece costly.
        var forgetAt = UploadTurns.rememberedSites
    }

    private let width: Int
    private let state = Mutex(State())

    /// - Parameter width: The turns at once.
    init(width: Int = max(1, System.coreCount / 2)) { self.width = width }

    /// Works on a piece of an upload once its turn has come.
    ///
    /// - Parameter body: Must not wait for a client, a server or the commit of a transaction, so that none of these holds up all uploads.
    ///   Waiting for the local disk is right: all uploads write to it.
    /// - Throws: The errors of `body`, and `CancellationError` when the task is cancelled before.
    func inTurn(of client: IPAddress, byteCount: Int, _ body: () async throws -> Void) async throws {
        try await begin(client, byteCount: byteCount)
        defer { end() }
        try await body()
    }

    /// Waits for a turn, which ``end()`` ends.
    func begin(_ client: IPAddress, byteCount: Int) async throws {
        let (site, now) = (client.site, ContinuousClock.now)
        let id: UInt64? = state.withLock { state in
            Self.count(byteCount, of: site, at: now, in: &state)
            if state.running < width {
                state.running += 1
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    // A turn may have ended since.
                    if state.running < width {
                        state.running += 1
                        return .success(())
                    }
                    state.waiters.append(Waiter(id: id, site: site, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Ends a turn, and begins that of the waiting site that has sent the least.
    func end() {
        let now = ContinuousClock.now
        let next: Waiter? = state.withLock { state in
            let used = state.waiters.map { Self.bytes(of: $0.site, at: now, in: state) }
            // Of equal ones the first, which has waited longest.
            let least = used.indices.min { used[$0] < used[$1] }
            guard let least else {
                state.running -= 1
                return nil
            }
            return state.waiters.remove(at: least)
        }
        next?.continuation.resume()
    }

    /// The number of those that wait, for tests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    private static func bytes(of site: IPAddress, at now: ContinuousClock.Instant, in state: State) -> Double {
        state.used[site]?.bytes(at: now) ?? 0
    }

    private static func count(_ byteCount: Int, of site: IPAddress, at now: ContinuousClock.Instant, in state: inout State) {
        if state.used.count >= state.forgetAt {
            state.used = state.used.filter { $0.value.bytes(at: now) >= negligible }
            state.forgetAt = max(rememberedSites, 2 * state.used.count)
        }
        state.used[site] = Usage(bytes: bytes(of: site, at: now, in: state) + Double(byteCount), at: now)
    }
}
