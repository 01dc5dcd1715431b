public import FoundationEssentials
public import HTTPClient
public import Logging
internal import Synchronization

/// Gets access tokens, by a service account's key or from the machine's metadata server, and keeps each for most of its hour.
///
/// One request at a time, whoever asks. A new token is asked for after five sixths of the old one's life, while the old
/// one is still handed out; when that fails the old one serves until its end.
public final class CachedTokenSource: AccessTokenSource {
    /// How long to wait after a failure before asking again while an old token still serves, in seconds.
    static let retrySeconds = 10.0
    /// How long after a forced refresh the next one may follow, in seconds.
    static let forcedRefreshSeconds = 60.0
    /// A token is not handed out any more that long before its end, in seconds: a request takes time too.
    static let marginSeconds = 30.0

    private struct Cached {
        let token: String
        let refreshAt: Date
        let expiresAt: Date
    }

    private struct State {
        var cached: Cached?
        var refresh: Task<Result<TokenGrant, FCMError>, Never>?
        var lastFailureAt = Date.distantPast
        var lastForcedAt = Date.distantPast
    }

    private let request: any TokenRequest
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    /// Makes a source of tokens for a service account; nothing is asked before the first one is needed.
    ///
    /// - Parameter tokenURL: where tokens are had in place of Google's address; nil means Google.
    /// - Throws: `configuration` when the URL may not be used.
    public init(
        key: ServiceAccountKey, tokenURL: String? = nil, http: HTTPClient, logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        let endpoints = try FCMEndpoints(tokenURL: tokenURL, key: key)
        request = ServiceAccountTokenRequest(key: key, url: endpoints.token, audience: endpoints.audience, http: http)
        self.logger = logger
        self.now = now
    }

    /// Makes a source of tokens for the service account that this machine or pod in Google's cloud runs as.
    ///
    /// - Parameters:
    ///   - metadataHost: where its metadata server is, as `name` or `name:port`; nil means Google's name for it.
    ///   - timeout: how long it may take to answer; it is on the same machine.
    ///   - http: has to allow plain HTTP, which is all that server speaks.
    /// - Throws: `configuration` when the host is neither Google's nor this machine.
    public init(
        metadataHost: String?, timeout: Duration = .seconds(5), http: HTTPClient, logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        request = try MetadataTokenRequest(host: metadataHost, timeout: timeout, http: http)
        self.logger = logger
        self.now = now
    }

    /// The cached token while it is valid; asks for its successor when it is time to.
    public var current: String? {
        let time = now()
        return state.withLock { state in
            guard let cached = state.cached, time < cached.expiresAt else { return nil }
            if time >= cached.refreshAt, time >= state.lastFailureAt.addingTimeInterval(Self.retrySeconds) {
                startRefresh(&state)
            }
            return cached.token
        }
    }

    /// Returns the cached token, or waits for a new one.
    public func accessToken() async throws(FCMError) -> String {
        if let current { return current }
        return try await state.withLock { startRefresh(&$0) }.value.get().token
    }

    /// Asks for another token, at most once a minute, unless a newer one is there already.
    public func accessToken(afterRefusalOf token: String) async -> String? {
        let time = now()
        let (other, refresh) = state.withLock { state -> (String?, Task<Result<TokenGrant, FCMError>, Never>?) in
            if let cached = state.cached, cached.token != token { return (cached.token, nil) }
            guard state.refresh != nil || time >= state.lastForcedAt.addingTimeInterval(Self.forcedRefreshSeconds) else {
                return (nil, nil)
            }
            state.lastForcedAt = time
            return (nil, startRefresh(&state))
        }
        guard let refresh else { return other }
        return try? await refresh.value.get().token
    }

    @discardableResult
    private func startRefresh(_ state: inout State) -> Task<Result<TokenGrant, FCMError>, Never> {
        if let refresh = state.refresh { return refresh }
        // A task of its own: whoever asked first may be cancelled, and the others still want the token.
        let task = Task {
            // Its life is counted from the asking: the answer takes time, and the token's began before it came.
            let time = now()
            let result = await request.grant(at: time)
            take(result, askedAt: time)
            return result
        }
        state.refresh = task
        return task
    }

    private func take(_ result: Result<TokenGrant, FCMError>, askedAt time: Date) {
        state.withLock { state in
            state.refresh = nil
            switch result {
            case .success(let grant):
                let life = grant.lifetimeSeconds
                let jitter = Double.random(in: 0.95...1)
                state.cached = Cached(
                    token: grant.token, refreshAt: time.addingTimeInterval(life * 5 / 6 * jitter),
                    expiresAt: time.addingTimeInterval(max(1, life - Self.marginSeconds)))
            case .failure: state.lastFailureAt = now()
            }
        }
        switch result {
        case .success(let grant): logger.debug("access token granted", metadata: ["seconds": "\(Int(grant.lifetimeSeconds))"])
        case .failure(let error): logger.debug("no access token", metadata: ["error": "\(error)"])
        }
    }
}
