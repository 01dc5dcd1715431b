public import FoundationEssentials
public import HTTPClient
public import Logging
internal import Synchronization

/// Requests access tokens, with a service account's key or from the machine's metadata server, and caches each for most of its hour.
///
/// At most one request runs at a time. A new token is requested after five sixths of the old one's lifetime, while the old one is
/// still used; when that fails, the old one is used until it expires.
public final class CachedTokenSource: AccessTokenSource {
    /// The wait after a failed refresh before the next one, while the old token is still valid.
    static let retrySeconds = 10.0
    /// The least time between forced refreshes.
    static let forcedRefreshSeconds = 60.0
    /// A token is not used any more this long before its expiry, because a request takes time too.
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

    /// Makes a source of tokens for a service account; the first token is requested when it is needed.
    ///
    /// - Parameter tokenURL: The token endpoint; nil means Google's.
    /// - Throws: `configuration` when the URL is not allowed.
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
    ///   - metadataHost: The metadata server, as `name` or `name:port`; nil means Google's name for it.
    ///   - timeout: The time limit of a request; the server is on the same machine.
    ///   - http: The client; it must allow plain HTTP, the only protocol of that server.
    /// - Throws: `configuration` when the host is not Google's and not this machine.
    public init(
        metadataHost: String?, timeout: Duration = .seconds(5), http: HTTPClient, logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        request = try MetadataTokenRequest(host: metadataHost, timeout: timeout, http: http)
        self.logger = logger
        self.now = now
    }

    /// The cached token while it is valid; starts a refresh when one is due.
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

    /// Returns the cached token if it is not the refused one; otherwise requests a new one, at most once a minute.
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
        // An unstructured task: the first caller may be cancelled while others still wait for the token.
        let task = Task {
            // The lifetime counts from the request, because it began before the response came.
            let time = now()
            let result = await request.grant(at: time)
            store(result, requestedAt: time)
            return result
        }
        state.refresh = task
        return task
    }

    private func store(_ result: Result<TokenGrant, FCMError>, requestedAt time: Date) {
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
