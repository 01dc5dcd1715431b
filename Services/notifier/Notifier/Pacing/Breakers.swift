internal import FCM
internal import FoundationEssentials
internal import Synchronization

/// The breakers of a project, each for what it alone can know: our own credentials, the credentials that Apple or a
/// browser's push service has of the project, and faults of FCM that pass.
final class Breakers: Sendable {
    /// Which of them is meant; the name in `/metrics` and in the ledger.
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
        var credentials = Breaker(trip: .atOnce, probes: 1)
        var transient = Breaker(trip: .share(0.5, of: 100), probes: 5)
        /// Those of the platforms whose push service has failed ever; nearly always none.
        var providers: [String: Breaker] = [:]
        /// The installations of a platform that its push service has refused since it last took a push.
        var refused: [String: Set<UUID>] = [:]
        /// The installations that FCM has called another project's since it last took a push; at most ``foreignMin``.
        var foreign: Set<UUID> = []

        /// Why nothing may be sent; nil when something may.
        mutating func closure(at now: ContinuousClock.Instant) -> (wait: Duration, code: String)? {
            if case .wait(let wait) = credentials.look(at: now) { return (wait, Self.code(.credentials)) }
            if case .wait(let wait) = transient.look(at: now) { return (wait, Self.code(.transient)) }
            return nil
        }

        static func code(_ name: Name) -> String { "breaker_\(name.word)" }
    }

    /// When so many installations of a platform were refused, and none was not, it is the project's credentials for it that are bad,
    /// and not those of one build of the app: a phone with a developer's build is refused for lack of the sandbox's key.
    static let refusedMin = 3

    /// When so many installations belong to another project, and none has taken a push since the first of them, our key is
    /// of the wrong project. Fewer are stray tokens, which must not hold up the others.
    static let foreignMin = 5

    private let state = Mutex(State())
    private let clock: @Sendable () -> ContinuousClock.Instant

    init(clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.clock = clock }

    /// Says whether anything may be sent now: nil, or how long it is of no use and on whose account.
    var closure: (wait: Duration, code: String)? {
        let now = clock()
        return state.withLock { $0.closure(at: now) }
    }

    /// Lets a push to a device of this platform go, or says how long it has to wait and on whose account.
    func admit(platform: String?) -> (wait: Duration, code: String)? {
        let now = clock()
        return state.withLock { state in
            if let closure = state.closure(at: now) { return closure }
            if !state.providers.isEmpty, let platform {
                if case .wait(let wait)? = state.providers[platform]?.look(at: now) {
                    return (wait, State.code(.provider(platform: platform)))
                }
                state.providers[platform]?.letGo()
            }
            state.credentials.letGo()
            state.transient.letGo()
            return nil
        }
    }

    /// Whether pushes to devices of this platform wait for its push service.
    func isOpen(platform: String?) -> Bool {
        state.withLock { state in platform.flatMap { state.providers[$0] }.map { $0.state != .closed } ?? false }
    }

    /// Notes how a push to a device of this platform ended.
    ///
    /// - Returns: Whether sending may begin again with it, which it should do slowly.
    func note(_ outcome: FCMOutcome, platform: String?, installID: UUID) -> Bool {
        let now = clock()
        return state.withLock { state in
            var hasClosed = false
            switch outcome {
            case .cancelled, .quota: break
            case .transient, .notSent, .ambiguous: hasClosed = state.transient.note(isFault: true, installID: installID, at: now)
            case .ourAuth, .config: hasClosed = state.credentials.note(isFault: true, installID: installID, at: now)
            case .foreignTarget:
                hasClosed = state.transient.note(isFault: false, installID: installID, at: now)
                if state.foreign.count < Self.foreignMin { state.foreign.insert(installID) }
                // A probe that is refused proves nothing, however few were before it.
                if state.foreign.count >= Self.foreignMin || state.credentials.state == .halfOpen {
                    state.credentials.note(isFault: true, installID: installID, at: now)
                }
            case .accepted, .deadTarget, .badPayload, .providerAuth:
                if case .accepted = outcome { state.foreign = [] }
                hasClosed = state.credentials.note(isFault: false, installID: installID, at: now)
                if state.transient.note(isFault: false, installID: installID, at: now) { hasClosed = true }
            }
            guard let platform else { return hasClosed }
            if outcome == .providerAuth {
                var refused = state.refused[platform] ?? []
                if refused.count < Self.refusedMin { refused.insert(installID) }
                state.refused[platform] = refused
                guard refused.count >= Self.refusedMin else { return hasClosed }
                state.providers[platform, default: Breaker(trip: .atOnce, probes: 1)].note(
                    isFault: true, installID: installID, at: now)
            } else if !state.refused.isEmpty, case .accepted = outcome {
                if state.providers[platform]?.note(isFault: false, installID: installID, at: now) == true { hasClosed = true }
                if state.providers[platform]?.state != .open { state.refused[platform] = nil }
            }
            return hasClosed
        }
    }

    /// Whether FCM is to be believed when it calls a device dead: not while it is out of order, for what it says then has
    /// cost others all their registrations.
    var believesDeaths: Bool { state.withLock { $0.transient.state == .closed } }

    /// Whether our own credentials are good as far as is known; nothing but another configuration helps when they are not.
    var hasCredentials: Bool { state.withLock { $0.credentials.state == .closed } }

    /// How each of them is, for those who watch.
    var states: [Name: Breaker.State] {
        state.withLock { state in
            var states: [Name: Breaker.State] = [.credentials: state.credentials.state, .transient: state.transient.state]
            for (platform, breaker) in state.providers { states[.provider(platform: platform)] = breaker.state }
            return states
        }
    }
}
