internal import Accounts
internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import Mail
internal import NIOCore
internal import Pictures
internal import PostgresClient
public import ServiceDefaults
public import ServiceLifecycle
internal import WireFormat

/// The public HTTP API: sign-up and sign-in, image jobs, topics, messages, devices and receipts.
public enum IdentityAPI: HeliographService {
    /// The deployed name, which is also that of the consumer group.
    public static let name = "identity-api"
    /// The line of `--help`.
    public static let summary = "Accepts photos for face sign-up and sign-in, and answers with their outcome."

    /// Builds the API: its server, the mail client, the consumer of its events, and the periodic work on its tables.
    ///
    /// - Throws: `ConfigurationError` for the setting that is missing or wrong.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let configuration = try IdentityAPIConfiguration(context.settings)
        let mail = SMTPClient(configuration.mail, logger: context.logger)
        return [mail] + (try build(context, configuration: configuration, mail: mail) { _ in })
    }

    /// Builds the service from a configuration.
    ///
    /// - Parameters:
    ///   - mail: Sends mails.
    ///   - onListening: Called with the bound port once the server listens; tests get the port from it.
    static func build(
        _ context: ServiceContext, configuration: IdentityAPIConfiguration, mail: any MailSender,
        onListening: @escaping @Sendable (_ port: Int) async -> Void
    ) throws -> [any Service] {
        let sessionKey = try context.settings.sessionKey()
        let challengeTokens = ChallengeTokens(sessionKey: sessionKey)
        let receiptKey = try ErasureReceiptKey(lookupKeys: context.settings.lookupKeys())
        let photos = try context.blobStore(.faces)
        let pictures = try context.blobStore(.pictures)
        let links = try context.mediaLinks()
        let postgres = context.postgres
        let keys = AccountKeys(
            lookupKeys: try context.settings.lookupKeys(), accounts: try context.sealer(.accounts), tokens: try context.sealer(.tokens))
        let waiters = RowWatcher<Session>(limits: .init(total: configuration.waiters), logger: context.logger) { ids in
            Dictionary(uniqueKeysWithValues: try await SessionRepository(postgres).find(ids: ids).map { ($0.id, $0) })
        }
        let jobs = RowWatcher<ImageJob>(limits: .init(total: configuration.waiters), logger: context.logger) { ids in
            Dictionary(uniqueKeysWithValues: try await ImageJobRepository(postgres).find(ids: ids).map { ($0.id, $0) })
        }
        let firebase = configuration.firebase?.make(context, keys: keys)
        let users = BearerAuthenticator(
            accessTokens: AccessTokenAuthenticator(postgres: postgres), firebase: firebase?.authenticator)
        let services = APIKeyAuthenticator(
            postgres: postgres, users: users, limiter: RateLimiter(configuration.limits.services))
        let authenticator = UserAuthenticator(users: users, services: services)
        let slots = UploadSlots(limit: configuration.uploads.concurrentUploads, perSite: configuration.limits.uploadsPerSite)
        let uploads = UploadPipeline(blobs: pictures, postgres: postgres, slots: slots)
        let gate = SenderGate(
            users: authenticator, services: services, signals: RateLimiter(configuration.limits.signals, name: "signals"),
            devices: RateLimiter(configuration.limits.devices, name: "devices"),
            topics: RateLimiter(configuration.limits.topics, name: "topics"),
            messages: RateLimiter(configuration.limits.messages, name: "messages"),
            orders: RateLimiter(configuration.limits.orders, name: "orders"),
            photos: RateLimiter(configuration.limits.photos, name: "photos"))
        let deviceKeys = DeviceKeyGate(
            postgres: postgres, keys: keys,
            verifier: DeviceProofVerifier(
                nonces: DeviceNonces(sessionKey: sessionKey),
                urls: ([links.signer.publicURL] + configuration.deviceKeys.otherURLs).compactMap { ProofURL($0) }),
            isRequired: configuration.deviceKeys.policy == .required)
        let sessions = SessionController(postgres: postgres, waiters: waiters)
        let mailer = CodeMailer(postgres: postgres, perMinute: configuration.limits.codeMails, logger: context.logger)
        let verification = VerificationController(
            postgres: postgres, keys: keys, limiter: PrefixRateLimiter(configuration.limits.verifications, name: "verifications"),
            codes: PrefixRateLimiter(configuration.limits.verifications, name: "codes"),
            brake: CodeBrake(limits: configuration.limits.wrongCodes), mailer: mailer, mail: mail)
        let starter = SessionStarter(
            postgres: postgres, keys: keys, admission: SessionAdmission(limits: configuration.limits.undecidedSessions),
            brakes: SignInBrakes(limits: configuration.limits.failedSignIns),
            limiter: RateLimiter(configuration.limits.account, name: "account"))
        let routes = APIRoutes(
            gate: gate, deviceKeys: deviceKeys,
            uploads: UploadController(
                uploads: UploadPipeline(blobs: photos, postgres: postgres, slots: slots),
                starter: starter, limits: configuration.uploads, consent: configuration.consent,
                challenges: ChallengeGate(tokens: challengeTokens, isRequired: configuration.requiresChallenge),
                retakes: PhotoRetakes(blobs: photos, starter: starter, requiresChallenge: configuration.requiresChallenge), mail: mail),
            consent: ConsentController(requirement: configuration.consent),
            challenges: ChallengeController(
                tokens: challengeTokens, limiter: PrefixRateLimiter(configuration.limits.challenges, name: "challenges")),
            sessions: sessions,
            tokens: TokenController(
                postgres: postgres, keys: keys, sessions: sessions, deviceKeys: deviceKeys,
                newDevices: NewDeviceGate(
                    policy: configuration.deviceKeys.newDevices, trustsInstallations: configuration.deviceKeys.policy == .optional,
                    keys: keys, verification: verification),
                lifetimes: configuration.signIns),
            verification: verification,
            images: imageRoutes(
                configuration, postgres: postgres, blobs: pictures, links: links, keys: keys, jobs: jobs, uploads: uploads),
            topics: topicRoutes(configuration, postgres: postgres, links: links, keys: keys, uploads: uploads),
            people: peopleRoutes(
                configuration, context, pictures: pictures, keys: keys, verification: verification,
                receiptKeys: ReceiptKeys(json: receiptKey.publicKeys)),
            notifications: AppNotificationController(postgres: postgres, keys: keys),
            limit: RateLimitMiddleware(
                addresses: configuration.limits.addresses, limiter: PrefixRateLimiter(configuration.limits.address, name: "address")),
            schema: context.schema, origins: configuration.origins)
        let broadcasts = BroadcastReader(
            transport: context.transport, logger: context.logger,
            handlers: [
                .on(EkycCompleted.self) { waiters.wake($0.body.sessionID) },
                .on(ImageProgress.self) { jobs.wake($0.body.jobID) },
                .on(ImageCompleted.self) { jobs.wake($0.body.jobID) },
            ])
        let consumer = try context.consumer(
            handlers: [
                .handler(
                    MailRequestedHandler(
                        postgres: postgres, keys: keys, sender: mail, retryDelay: configuration.mailRetryDelay)),
                context.erasing(with: IdentityEraser(photos: photos)),
            ])
        let erasures = ErasureCoordinator(
            postgres: postgres, receiptKey: receiptKey, issuer: links.signer.publicURL.text, logger: context.logger, clock: context.clock)
        context.metrics.setLifetime(sealedValuesInterval * 2.5, ofGauge: "sealed_values")
        let sweeper = sweeper(
            postgres: postgres, photos: photos, pseudonyms: SessionPseudonyms(sessionKey: sessionKey),
            sealers: [.accounts: try context.sealer(.accounts), .tokens: try context.sealer(.tokens)],
            placesPerAddress: configuration.limits.undecidedSessions.inFlightPerAddress,
            interval: configuration.sweepInterval, logger: context.logger, clock: context.clock)
        let server = Application(
            router: routes.buildRouter(),
            server: .guardedHTTP1(configuration),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: MaximumAvailableConnections(configuration.connections + OpenConnections.surplus)),
            onServerRunning: { await onListening($0.localAddress?.port ?? 0) }, logger: context.logger)
        // Shut down in reverse: first waiting requests get their answer, then the server finishes its open requests.
        let dueNotifications = DueNotifications(postgres: postgres, logger: context.logger)
        return (firebase?.services ?? [])
            + [consumer, broadcasts, sweeper, erasures, dueNotifications, mailer, StartsWithoutSchema(server), waiters, jobs]
    }

    private static func imageRoutes(
        _ configuration: IdentityAPIConfiguration, postgres: PostgresClient, blobs: any BlobStore, links: MediaLinks, keys: AccountKeys,
        jobs: RowWatcher<ImageJob>, uploads: UploadPipeline
    ) -> ImageRoutes {
        let perSite = configuration.limits.uploadsPerSite
        let downloads = UploadSlots(limit: configuration.downloads, perSite: perSite)
        let reader = ImageJobReader(postgres: postgres, blobs: blobs, links: links, slots: downloads)
        let controller = ImageJobController(postgres: postgres, blobs: blobs, reader: reader, jobs: jobs)
        return ImageRoutes(
            submit: ImageSubmitController(
                uploads: uploads,
                starter: ImageJobStarter(
                    postgres: postgres, keys: keys, processingTime: configuration.imageProcessingTime,
                    admission: configuration.limits.imageJobs),
                reader: reader, jobs: jobs, limits: configuration.uploads),
            jobs: controller,
            events: ImageJobEvents(
                controller: controller, postgres: postgres, jobs: jobs,
                slots: UploadSlots(limit: configuration.eventStreams, perSite: perSite)),
            media: MediaController(blobs: blobs, signer: links.signer, slots: downloads))
    }

    private static func topicRoutes(
        _ configuration: IdentityAPIConfiguration, postgres: PostgresClient, links: MediaLinks, keys: AccountKeys,
        uploads: UploadPipeline
    ) -> TopicRoutes {
        let apps = AppTopicController(postgres: postgres)
        return TopicRoutes(
            members: TopicController(
                postgres: postgres, quota: configuration.limits.invitations, usersMayCreate: configuration.topicCreators == .users,
                apps: apps),
            lists: TopicListController(postgres: postgres, links: links), apps: apps,
            photos: PhotoController(
                uploads: uploads, postgres: postgres, quota: configuration.limits.photoQuota,
                limits: configuration.uploads,
                lifetime: configuration.photoLifetime),
            messages: MessageController(postgres: postgres, keys: keys))
    }

    private static func peopleRoutes(
        _ configuration: IdentityAPIConfiguration, _ context: ServiceContext, pictures: any BlobStore, keys: AccountKeys,
        verification: VerificationController, receiptKeys: ReceiptKeys
    ) -> PeopleRoutes {
        let postgres = context.postgres
        return PeopleRoutes(
            profile: ProfileController(postgres: postgres, keys: keys),
            export: ExportController(
                postgres: postgres, keys: keys, blobs: pictures,
                slots: UploadSlots(limit: configuration.exports.concurrent, perSite: configuration.limits.uploadsPerSite),
                limits: configuration.exports, clock: context.clock),
            erasures: ErasureController(
                postgres: postgres, starter: ErasureStarter(postgres: postgres, keys: keys), receiptKeys: receiptKeys),
            email: EmailController(keys: keys, verification: verification),
            recovery: RecoveryController(postgres: postgres),
            presence: PresenceController(postgres: postgres),
            devices: DeviceController(registrar: DeviceRegistrar(postgres: postgres, keys: keys)),
            receipts: ReceiptController(postgres: postgres),
            signIns: SignInController(postgres: postgres, keys: keys),
            confirmations: SignInConfirmationController(postgres: postgres, keys: keys),
            blocks: PeopleListController(kind: .blocks, postgres: postgres),
            contacts: PeopleListController(kind: .contacts, postgres: postgres),
            reports: ReportController(postgres: postgres, keys: keys))
    }
}
