internal import AsyncPrimitives
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
/// second. Sites that have sent much of late have an eighth of the turns' time together, also while others send nothing, because all else
/// on the machine shares the cores with them. The server reads no more from a client whose piece waits.
final class UploadTurns: Sendable {
    /// A turn that has begun.
    struct Turn: Sendable {
        fileprivate let isHeavy: Bool
        fileprivate let start: ContinuousClock.Instant
    }

    /// The half-life of the bytes that count for a site.
    private static let halfLife = Duration.seconds(10)
    /// The bytes from which on a site is heavy: more than nine large photos.
    static let heavyBytes = 32.0 * 1_048_576
    /// The time in which no heavy site has a turn after a turn of one, as a multiple of that turn's.
    private static let restFactor = 7
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
        let continuation: CheckedContinuation<Turn, any Error>
    }

    private struct State {
        var running = 0
        /// The time before which no heavy site has a turn.
        var restUntil: ContinuousClock.Instant?
        /// Whether a task waits for that time.
        var isWakeSet = false
        var waiters: [Waiter] = []
        var nextID: UInt64 = 0
        var used: [IPAddress: Usage] = [:]
        /// The number of sites at which the next ones are forgotten: twice as many as were left the last time, so that a flood of sites
        /// does not make each piece costly.
        var forgetAt = UploadTurns.rememberedSites
    }

    private let width: Int
    private let clock: any MonotonicClock
    private let state = Mutex(State())

    /// - Parameter width: The turns at once.
    init(width: Int = max(1, System.coreCount / 2), clock: any MonotonicClock = ContinuousClock()) {
        (self.width, self.clock) = (width, clock)
    }

    /// Works on a piece of an upload once its turn has come.
    ///
    /// - Parameter body: Must not wait for a client, a server or the commit of a transaction, so that none of these holds up all uploads.
    ///   Waiting for the local disk is right: all uploads write to it.
    /// - Throws: The errors of `body`, and `CancellationError` when the task is cancelled before.
    func inTurn(of client: IPAddress, byteCount: Int, _ body: () async throws -> Void) async throws {
        let turn = try await begin(client, byteCount: byteCount)
        defer { end(turn) }
        try await body()
    }

    /// Waits for a turn, which ``end(_:)`` ends.
    func begin(_ client: IPAddress, byteCount: Int) async throws -> Turn {
        let (site, now) = (client.site, clock.now)
        let (turn, id) = state.withLock { state in
            Self.count(byteCount, of: site, at: now, in: &state)
            state.nextID += 1
            return (take(site, at: now, in: &state), state.nextID)
        }
        if let turn { return turn }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    state.waiters.append(Waiter(id: id, site: site, continuation: continuation))
                    return false
                }
                // A turn may have ended since.
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { dispatch() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Ends a turn, and begins that of the waiting site that has sent the least.
    func end(_ turn: Turn) {
        let now = clock.now
        state.withLock { state in
            state.running -= 1
            guard turn.isHeavy else { return }
            state.restUntil = max(state.restUntil ?? now, now) + (now - turn.start) * Self.restFactor / width
        }
        dispatch()
    }

    /// The number of those that wait, for tests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Begins the turns that may begin now, and has the others begin when the rest of heavy sites is over.
    private func dispatch() {
        let now = clock.now
        let (begun, rest) = state.withLock { state in
            var begun: [(Waiter, Turn)] = []
            while state.running < width, let index = Self.next(at: now, in: state),
                let turn = take(state.waiters[index].site, at: now, in: &state)
            {
                begun.append((state.waiters.remove(at: index), turn))
            }
            // With a free turn, all that wait are heavy.
            guard state.running < width, !state.waiters.isEmpty, !state.isWakeSet, let end = state.restUntil else {
                return (begun, Duration?.none)
            }
            state.isWakeSet = true
            return (begun, end - now)
        }
        for (waiter, turn) in begun { waiter.continuation.resume(returning: turn) }
        guard let rest else { return }
        Task {
            try? await clock.sleep(for: rest)
            state.withLock { $0.isWakeSet = false }
            dispatch()
        }
    }

    /// Takes a turn for a site, if one is free and the site need not rest.
    private func take(_ site: IPAddress, at now: ContinuousClock.Instant, in state: inout State) -> Turn? {
        guard state.running < width else { return nil }
        let isHeavy = Self.bytes(of: site, at: now, in: state) >= Self.heavyBytes
        if isHeavy, let end = state.restUntil, end > now { return nil }
        state.running += 1
        return Turn(isHeavy: isHeavy, start: now)
    }

    /// The waiter of the site that has sent the least; of equal ones the first, which has waited longest.
    private static func next(at now: ContinuousClock.Instant, in state: State) -> Int? {
        let used = state.waiters.map { bytes(of: $0.site, at: now, in: state) }
        return used.indices.min { used[$0] < used[$1] }
    }

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
