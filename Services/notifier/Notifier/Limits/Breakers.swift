internal import AsyncPrimitives
internal import FCM
internal import FoundationEssentials
internal import Push
internal import Synchronization

/// The circuit breakers of a project: one for our own credentials, one for transient faults of FCM, and one per platform for the
/// project's credentials at the push service behind FCM (Apple's, or a browser's).
final class Breakers: Sendable {
    /// Identifies a breaker; its word stands in `/metrics`.
    enum Name: Hashable, Sendable {
        case credentials
        case transient
        /// The push service behind FCM of one platform.
        case provider(platform: String)

        var word: String {
            switch self {
            case .credentials: "credentials"
            case .transient: "transient"
            case .provider(let platform): "provider_\(platform)"
            }
        }
    }

    private struct State {
        var credentials = Breaker(trip: .immediate, probes: 1)
        var transient = Breaker(trip: .share(0.5, of: 100), probes: 5)
        /// The breakers of platforms whose push service has ever refused; nearly always empty.
        var providers: [String: Breaker] = [:]
        /// By platform, the installations that its push service has refused since it last accepted a push; at most ``minRefused``.
        var refused: [String: Set<UUID>] = [:]
        /// The bound installations that FCM has assigned to another project since it last accepted a push; at most ``minForeign``.
        var foreign: Set<UUID> = []

        /// Returns the time for which nothing may be sent, and the code of the breaker that is open; nil when sending is allowed.
        mutating func suspension(at now: ContinuousClock.Instant) -> (wait: Duration, code: String)? {
            if case .wait(let wait) = credentials.peek(at: now) { return (wait, DeliveryCode.breakerCredentials.rawValue) }
            if case .wait(let wait) = transient.peek(at: now) { return (wait, DeliveryCode.breakerTransient.rawValue) }
            return nil
        }
    }

    /// The number of installations of a platform, refused with none accepted between them, at which the project's credentials for the
    /// platform count as bad. Fewer may be a single build of the app: a developer's build is refused for lack of the sandbox key.
    static let minRefused = 3

    /// The number of installations of another project, with no push accepted since the first of them, at which our key counts as the
    /// wrong project's. Fewer are stray tokens, which must not delay other pushes. Only installations of signed-in users count: anyone
    /// can hand in another project's tokens with the photos of a sign-in that fails.
    static let minForeign = 5

    private let state = Mutex(State())
    private let clock: any MonotonicClock

    init(clock: any MonotonicClock = ContinuousClock()) { self.clock = clock }

    /// The time for which nothing may be sent, and the code of the breaker that is open; nil when sending is allowed.
    var suspension: (wait: Duration, code: String)? {
        let now = clock.now
        return state.withLock { $0.suspension(at: now) }
    }

    /// Admits a push to a device of this platform.
    ///
    /// - Returns: Nil when it may be sent; otherwise the time that it has to wait, and the code of the breaker that is open.
    func admit(platform: String?) -> (wait: Duration, code: String)? {
        let now = clock.now
        return state.withLock { state in
            if let suspension = state.suspension(at: now) { return suspension }
            if !state.providers.isEmpty, let platform {
                if case .wait(let wait)? = state.providers[platform]?.peek(at: now) {
                    return (wait, DeliveryCode.providerBreakerPrefix + platform)
                }
                state.providers[platform]?.recordAdmission()
            }
            state.credentials.recordAdmission()
            state.transient.recordAdmission()
            return nil
        }
    }

    /// Whether the breaker of this platform's push service is not closed.
    func isOpen(platform: String?) -> Bool {
        state.withLock { state in platform.flatMap { state.providers[$0] }.map { $0.state != .closed } ?? false }
    }

    /// Records the outcome of a push to a device of this platform.
    ///
    /// - Parameter isBound: Whether a user is signed in on the installation.
    /// - Returns: Whether it has closed a breaker: sending then restarts, and should do so slowly.
    func note(_ outcome: FCMOutcome, platform: String?, installID: UUID, isBound: Bool) -> Bool {
        let now = clock.now
        return state.withLock { state in
            var hasClosed = false
            switch outcome {
            case .cancelled, .quota: break
            case .transient, .notSent, .ambiguous: hasClosed = state.transient.note(isFault: true, installID: installID, at: now)
            case .ourAuth, .config: hasClosed = state.credentials.note(isFault: true, installID: installID, at: now)
            case .foreignTarget:
                hasClosed = state.transient.note(isFault: false, installID: installID, at: now)
                guard isBound else {
                    state.credentials.returnProbe()
                    break
                }
                if state.foreign.count < Self.minForeign { state.foreign.insert(installID) }
                // A refused probe does not prove that the credentials work, however few refusals came before it.
                if state.foreign.count >= Self.minForeign || state.credentials.state == .halfOpen {
                    state.credentials.note(isFault: true, installID: installID, at: now)
                }
            case .accepted, .deadTarget, .badPayload, .providerAuth:
                if case .accepted = outcome, !state.foreign.isEmpty { state.foreign = [] }
                hasClosed = state.credentials.note(isFault: false, installID: installID, at: now)
                if state.transient.note(isFault: false, installID: installID, at: now) { hasClosed = true }
            }
            guard let platform else { return hasClosed }
            if outcome == .providerAuth {
                var refused = state.refused[platform] ?? []
                if refused.count < Self.minRefused { refused.insert(installID) }
                state.refused[platform] = refused
                guard refused.count >= Self.minRefused else { return hasClosed }
                state.providers[platform, default: Breaker(trip: .immediate, probes: 1)].note(
                    isFault: true, installID: installID, at: now)
            } else if !state.refused.isEmpty, case .accepted = outcome {
                if state.providers[platform]?.note(isFault: false, installID: installID, at: now) == true { hasClosed = true }
                if state.providers[platform]?.state != .open { state.refused[platform] = nil }
            }
            return hasClosed
        }
    }

    /// Whether an FCM answer that a token is dead is trusted: not during an outage, in which such answers have cost other projects
    /// all their registrations.
    var trustsDeadTokens: Bool { state.withLock { $0.transient.state == .closed } }

    /// Whether no fault of our own credentials is known; such a fault is mended by another configuration only.
    var hasCredentials: Bool { state.withLock { $0.credentials.state == .closed } }

    /// The state of each breaker, for the metrics.
    var states: [Name: Breaker.State] {
        state.withLock { state in
            var states: [Name: Breaker.State] = [.credentials: state.credentials.state, .transient: state.transient.state]
            for (platform, breaker) in state.providers { states[.provider(platform: platform)] = breaker.state }
            return states
        }
    }
}
