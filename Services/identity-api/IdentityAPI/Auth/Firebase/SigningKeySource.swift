internal import AsyncPrimitives
internal import HeliographCrypto
internal import Logging
internal import Metrics
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Synchronization

/// Google's keys for ID tokens: fetched when they are needed first, and from then on in the background before they expire.
final class SigningKeySource: Service {
    /// The answer to a look-up.
    enum Lookup: Sendable {
        case known(RSAPublicKey)
        /// Google has no such key, or has not had it within the last minute.
        case unknown
        /// Google's server does not answer, so that it is not known.
        case undecided
    }

    private struct State {
        var cache: SigningKeyCache<RSAPublicKey>
        /// The fetch under way; all who need its keys wait for it.
        var fetch: Task<Void, Never>?
    }

    private let fetchKeys: @Sendable () async throws -> FetchedKeys<RSAPublicKey>
    private let clock: any MonotonicClock
    private let logger: Logger
    private let state: Mutex<State>

    /// Makes a source without keys.
    ///
    /// - Parameter fetchKeys: Fetches the keys once; it has its own time limit.
    init(
        limits: SigningKeyLimits = SigningKeyLimits(), clock: any MonotonicClock, logger: Logger,
        fetchKeys: @escaping @Sendable () async throws -> FetchedKeys<RSAPublicKey>
    ) {
        self.fetchKeys = fetchKeys
        self.clock = clock
        self.logger = logger
        state = Mutex(State(cache: SigningKeyCache(limits: limits, now: clock.now)))
    }

    /// Returns the key of that id; waits for a fetch when it is not there, and may not be known yet.
    func key(_ id: String) async -> Lookup {
        while true {
            let (step, fetch) = state.withLock { state in
                let step = state.cache.find(id, at: clock.now)
                if case .fetch = step { startFetch(&state) }
                return (step, state.fetch)
            }
            switch step {
            case .known(let key): return .known(key)
            case .unknown: return .unknown
            case .undecided: return .undecided
            case .wait, .fetch: await fetch?.value
            }
        }
    }

    /// Whether the key of that id is there.
    func has(_ id: String) -> Bool { state.withLock { $0.cache.has(id, at: clock.now) } }

    /// Fetches the keys whenever a fetch is due, until graceful shutdown.
    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let fetch = self.state.withLock { state in
                    if state.cache.beginRefresh(at: self.clock.now) { self.startFetch(&state) }
                    return state.fetch
                }
                await fetch?.value
                let next = self.state.withLock { $0.cache.nextFetch }
                try? await self.clock.sleep(until: next, tolerance: nil)
            }
        }
    }

    private func startFetch(_ state: inout State) {
        // An unstructured task: the request that starts it may be cancelled while others still wait for its keys.
        state.fetch = Task {
            let result: Result<FetchedKeys<RSAPublicKey>, any Error>
            do { result = .success(try await fetchKeys()) } catch { result = .failure(error) }
            self.state.withLock { state in
                state.fetch = nil
                switch result {
                case .success(let fetched): state.cache.finish(fetched, at: clock.now)
                case .failure: state.cache.finishFailed(at: clock.now)
                }
            }
            report(result)
        }
    }

    private func report(_ result: Result<FetchedKeys<RSAPublicKey>, any Error>) {
        let outcome: String
        switch result {
        case .success(let fetched):
            outcome = "fetched"
            logger.debug("fetched Google's keys for ID tokens", metadata: ["count": "\(fetched.keys.count)"])
        case .failure(let error):
            outcome = "failed"
            logger.warning("cannot fetch Google's keys for ID tokens; older ones are used", metadata: ["error": "\(error)"])
        }
        Counter(label: "firebase_key_fetches_total", dimensions: [("outcome", outcome)]).increment()
    }
}
