internal import Foundation

extension HeliographClient {
    /// The parts of a client, and the reactions of one part to events of another.
    final class Parts: Sendable {
        let api: APIClient
        let retiredSignIns: RetiredSignIns
        let sessions: EKYCSessionManager
        let tracker: JobTracker
        let uploads: BackgroundUploads
        let registrar: TokenRegistrar
        let presence: PresenceKeeper
        let push: PushClient
        let signIns: AccountSignIns
        let sessionStore: PendingTaskStore
        let secrets: any PendingSecrets
        let jobStore: PendingTaskStore
        let isFollowing = Locked(false)

        init(
            _ configuration: ClientConfiguration, _ storage: ClientStorage, _ handlers: PushHandlers, _ firebase: FirebaseTokenProvider?,
            _ transport: any HTTPTransport, _ time: TimeSource, _ device: Device
        ) {
            func store(_ name: String, secrets: (any PendingSecrets)? = nil) -> PendingTaskStore {
                PendingTaskStore(folder: configuration.folder.appending(path: name), time: time, secrets: secrets)
            }
            let api = APIClient(
                configuration: configuration, transport: transport, storage: storage, firebase: firebase, time: time)
            let retiredSignIns = RetiredSignIns(store: storage.retired)
            let later = LateParts()
            let signIns = AccountSignIns(
                credentials: api.credentials, retiredSignIns: retiredSignIns, sender: api, exchange: api.exchange, time: time)
            let registrar = TokenRegistrar(
                TokenRegistrar.Ports(
                    sender: api, signIns: signIns, file: RegistrationFile(url: configuration.folder.appending(path: "registration.json")),
                    time: time,
                    appVersion: { configuration.appVersion }, locale: { configuration.locale },
                    onRegistered: { await later.parts?.presence.deviceRegistered() }))
            let sessionStore = store("sessions", secrets: storage.secrets)
            let jobStore = store("jobs")
            let uploads = BackgroundUploads(
                store: store("uploads"), session: device.uploads, configuration: configuration, bearers: UploadBearers(api.credentials),
                notifier: device.notifier, time: time)
            self.api = api
            self.retiredSignIns = retiredSignIns
            self.registrar = registrar
            self.uploads = uploads
            self.signIns = signIns
            self.sessionStore = sessionStore
            secrets = storage.secrets
            self.jobStore = jobStore
            presence = PresenceKeeper(
                PresenceKeeper.Ports(
                    sender: api, installation: { firebase == nil ? nil : await registrar.token }, time: time))
            tracker = JobTracker(
                store: jobStore, sender: api, time: time, isInForeground: false, owner: { (try? await api.credentials.session())?.userID },
                order: uploads.orders(from: jobStore),
                onCompleted: { job, picture in await uploads.jobCompleted(job, templateName: picture.templateName) })
            sessions = EKYCSessionManager(
                EKYCPorts(
                    sender: api, store: sessionStore, secrets: storage.secrets, time: time, pushToken: { await registrar.token },
                    signIn: { tokens in
                        guard let parts = later.parts else { throw HeliographError(.storage, "The app has released its client") }
                        try await parts.signIn(tokens)
                    },
                    isSignedIn: { user in (try? await api.credentials.session())?.userID == user }, scaler: device.scaler))
            push = PushClient(
                folder: configuration.folder.appending(path: ReceiptFiles.folderName), sender: api,
                handlers: Self.handlers(handlers, later), time: time,
                onShown: { push in if case .job(let job) = push.kind { await uploads.pushShown(job.id) } })
            later.set(self)
        }

        /// The client's actions for pushes, before the app's handlers.
        private static func handlers(_ app: PushHandlers, _ later: LateParts) -> PushHandlers {
            var handlers = app
            handlers.jobPush = { job in
                await later.parts?.tracker.pushArrived(jobID: job.id)
                await later.parts?.tracker.settle(jobID: job.id)
                await app.jobPush(job)
            }
            handlers.sessionPush = { id in
                await later.parts?.sessions.pushArrived(sessionID: id)
                await app.sessionPush(id)
            }
            handlers.installNonce = { check in
                await later.parts?.registrar.nonceArrived(handOverID: check.handOverID, nonce: check.nonce)
                await app.installNonce(check)
            }
            return handlers
        }
    }

    /// A weak reference to the parts, for parts that are made before all of them exist.
    private final class LateParts: Sendable {
        private struct Reference {
            weak var parts: Parts?
        }

        private let reference = Locked(Reference())

        var parts: Parts? { reference.withLock { $0.parts } }

        func set(_ parts: Parts) { reference.withLock { $0.parts = parts } }
    }
}
