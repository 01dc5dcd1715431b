internal import EventBus
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
public import ServiceDefaults
public import ServiceLifecycle
internal import WireFormat

/// The public edge: takes photos, says what became of a session, signs devices in and out.
public enum IdentityAPI: HeliographService {
    public static let name = "identity-api"
    public static let summary = "Take photos for face sign-up and sign-in, and tell what came of them."

    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        try build(context, configuration: IdentityAPIConfiguration(context.settings)) { _ in }
    }

    /// Builds the service with settings of a test, which learns from `onListening` which port it got.
    static func build(
        _ context: ServiceContext, configuration: IdentityAPIConfiguration,
        onListening: @escaping @Sendable (_ port: Int) async -> Void
    ) throws -> [any Service] {
        let blobs = try context.blobStore()
        let keys = AccountKeys(lookupKey: context.lookupKey, sealer: context.sealer)
        let waiters = SessionWaiters(limit: configuration.waiters, postgres: context.postgres, logger: context.logger)
        let sessions = SessionController(postgres: context.postgres, waiters: waiters)
        let routes = APIRoutes(
            uploads: UploadController(
                blobs: blobs, starter: SessionStarter(
                    postgres: context.postgres, keys: keys, limiter: RateLimiter(configuration.limits.account)),
                authenticator: AccessTokenAuthenticator(postgres: context.postgres),
                slots: UploadSlots(
                    limit: configuration.uploads.concurrentUploads, perAddress: configuration.limits.uploadsPerAddress),
                limits: configuration.uploads),
            sessions: sessions,
            tokens: TokenController(postgres: context.postgres, keys: keys, sessions: sessions),
            limit: RateLimitMiddleware(
                addresses: configuration.limits.addresses, limiter: RateLimiter(configuration.limits.address)))
        let broadcasts = BroadcastReader(
            transport: context.transport, logger: context.logger,
            handlers: [.on(EkycCompleted.self) { waiters.wake($0.body.sessionID) }])
        let sweeper = SessionSweeper(
            postgres: context.postgres, blobs: blobs, interval: configuration.sweepInterval, logger: context.logger)
        let server = Application(
            router: routes.buildRouter(),
            server: .guardedHTTP1(configuration),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: MaximumAvailableConnections(configuration.connections)),
            onServerRunning: { await onListening($0.localAddress?.port ?? 0) }, logger: context.logger)
        // Shut down in reverse: waiting requests get their answer, then the server finishes what it has.
        return [broadcasts, sweeper, server, waiters]
    }
}
