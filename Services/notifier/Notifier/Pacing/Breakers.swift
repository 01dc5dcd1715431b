internal import FCM
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

    private let breakers: Mutex<[Name: Breaker]>
    private let clock: @Sendable () -> ContinuousClock.Instant

    init(clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.clock = clock
        breakers = Mutex([
            .credentials: Breaker(trip: .atOnce, probes: 1),
            .transient: Breaker(trip: .share(0.5, of: 100), probes: 5),
        ])
    }

    /// Says whether anything may be sent now: nil, or how long it is of no use and on whose account.
    var closure: (wait: Duration, code: String)? {
        let now = clock()
        return breakers.withLock { breakers in
            for name in [Name.credentials, .transient] {
                if case .wait(let wait)? = breakers[name]?.look(at: now) { return (wait, "breaker_\(name.word)") }
            }
            return nil
        }
    }

    /// Lets a push to a device of this platform go, or says how long it has to wait and on whose account.
    func admit(platform: String?) -> (wait: Duration, code: String)? {
        var names = [Name.credentials, .transient]
        if let platform { names.append(.provider(platform: platform)) }
        let now = clock()
        return breakers.withLock { breakers in
            for name in names {
                if case .wait(let wait)? = breakers[name]?.look(at: now) { return (wait, "breaker_\(name.word)") }
            }
            for name in names { breakers[name]?.letGo() }
            return nil
        }
    }

    /// Notes how a push to a device of this platform ended.
    ///
    /// - Returns: Whether sending may begin again with it, which it should do slowly.
    func note(_ outcome: FCMOutcome, platform: String?) -> Bool {
        let now = clock()
        return breakers.withLock { breakers in
            var hasClosed = false
            func note(_ name: Name, isFault: Bool) {
                if breakers[name]?.note(isFault: isFault, at: now) == true { hasClosed = true }
            }
            switch outcome {
            case .cancelled, .quota: break
            case .transient, .notSent, .ambiguous: note(.transient, isFault: true)
            case .ourAuth, .config: note(.credentials, isFault: true)
            case .accepted, .deadTarget, .badPayload, .providerAuth:
                note(.credentials, isFault: false)
                note(.transient, isFault: false)
            }
            if let platform {
                let name = Name.provider(platform: platform)
                if outcome == .providerAuth {
                    if breakers[name] == nil { breakers[name] = Breaker(trip: .atOnce, probes: 1) }
                    note(name, isFault: true)
                } else if case .accepted = outcome, breakers[name] != nil {
                    note(name, isFault: false)
                }
            }
            return hasClosed
        }
    }

    /// Whether FCM is to be believed when it calls a device dead: not while it is out of order, for what it says then has
    /// cost others all their registrations.
    var believesDeaths: Bool { breakers.withLock { $0[.transient]?.state == .closed } }

    /// Whether our own credentials are good as far as is known; nothing but another configuration helps when they are not.
    var hasCredentials: Bool { breakers.withLock { $0[.credentials]?.state == .closed } }

    /// How each of them is, for those who watch.
    var states: [Name: Breaker.State] { breakers.withLock { $0.mapValues(\.state) } }
}
