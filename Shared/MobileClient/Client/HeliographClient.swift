internal import Foundation

/// The client of an app: sign-up and sign-in by face, pictures, events, conversations, pushes and the account.
///
/// An app makes one at its launch, in its main process, keeps it, and calls ``start()``. All orders and sessions of the app continue from
/// there, even after iOS has ended the app. A client's work stops when the app releases it, and continues in the next client. A
/// notification service extension has a ``PushExtension`` with the same folder instead.
public final class HeliographClient: Sendable {
    /// Sign-up and sign-in by face.
    public let ekyc: EKYCClient
    /// Pictures that the API makes.
    public let images: ImagesClient
    /// Events and their photos.
    public let events: EventsClient
    /// Conversations.
    public let chat: ChatClient
    /// What arrives by push, and where taps lead.
    public let push: PushClient
    /// The account of the signed-in person.
    public let account: AccountClient
    /// Whether a person is signed in on this device.
    public var credentials: AccountCredentials { parts.api.credentials }

    let parts: Parts

    /// Creates the client of an app. It does not read files or send requests before ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: The API, the app and the client's folder.
    ///   - storage: Where tokens are kept; nil for files in ``ClientConfiguration/folder``.
    ///   - handlers: The app's actions for pushes, in addition to the client's.
    ///   - firebase: Gives the tokens of an app that signs in with Firebase; nil for the sign-in by face.
    ///   - transport: Sends the requests.
    ///   - time: The time of day and the waits.
    public convenience init(
        configuration: ClientConfiguration, storage: ClientStorage? = nil, handlers: PushHandlers = PushHandlers(),
        firebase: FirebaseTokenProvider? = nil, transport: any HTTPTransport = URLSessionTransport(), time: TimeSource = .system
    ) {
        self.init(
            configuration: configuration, storage: storage, handlers: handlers, firebase: firebase, transport: transport, time: time,
            device: Device(transport, time))
    }

    init(
        configuration: ClientConfiguration, storage: ClientStorage? = nil, handlers: PushHandlers, firebase: FirebaseTokenProvider? = nil,
        transport: any HTTPTransport, time: TimeSource, device: Device
    ) {
        let parts = Parts(
            configuration, storage ?? ClientStorage(files: configuration.folder), handlers, firebase, transport, time, device)
        self.parts = parts
        let badge: @Sendable (Int, Date?) -> Void = { [badge = parts.push.badge] in badge.answered($0, at: $1) }
        ekyc = EKYCClient(parts.sessions)
        images = ImagesClient(
            tracker: parts.tracker, sender: parts.api, transport: transport,
            allowsPlainLinks: configuration.baseURL.scheme?.lowercased() == "http", scaler: device.scaler)
        events = EventsClient(
            api: parts.api, folder: configuration.folder.appending(path: "forms"), time: time, scaler: device.scaler, onBadge: badge)
        chat = ChatClient(api: parts.api, onBadge: badge) { [push = parts.push, presence = parts.presence] conversation in
            push.visibleConversations = conversation.map { [$0] } ?? []
            await presence.show(conversation: conversation)
        }
        push = parts.push
        account = AccountClient(
            api: parts.api, time: time,
            signIn: .init(
                current: { [signIns = parts.signIns] in try? await signIns.current() }, end: { [parts] in await parts.ended($0) }))
    }

    // MARK: The app

    /// Continues the orders and sessions of earlier processes, and removes data that is older than 24 hours. Call it at each launch,
    /// including launches in the background.
    ///
    /// If a part cannot start, the others still start.
    /// - Throws: `storage` when the device cannot read its files, for example before its first unlock; then call it again.
    public func start() async throws(HeliographError) {
        events.deleteLeftovers()
        try await parts.start()
    }

    /// Tells the client that the app is visible. Call it after a launch too, because a launch may be in the background.
    public func enterForeground() async {
        await parts.tracker.enterForeground()
        await parts.uploads.enterForeground()
        await parts.presence.enterForeground()
        await parts.registrar.becameActive()
        await parts.sessions.wake()
        await push.flush()
    }

    /// Says that the app cannot be seen any more. Returns after four seconds at the latest, so that iOS does not end the app for it.
    public func enterBackground() async {
        await parts.tracker.enterBackground()
        await parts.uploads.enterBackground()
        await parts.presence.enterBackground()
    }

    /// Says whether there is a network. Until it is said, there is one.
    public func networkChanged(isOnline: Bool) async {
        await parts.registrar.networkChanged(isOnline: isOnline)
        await parts.presence.networkChanged(isOnline: isOnline)
        guard isOnline else { return }
        await parts.tracker.networkReturned()
        await parts.uploads.bearerMayBeHad()
        await parts.sessions.wake()
        await push.flush()
    }

    /// Takes a `handleEventsForBackgroundURLSession` of the system; returns false, without any effect, for another session.
    ///
    /// The completion handler is called exactly once, on the main thread, when all results of the wake-up are on the device's disk.
    /// `images.pending()` may show the id of the job a moment later.
    public func handleBackgroundEvents(identifier: String, completion: @escaping @MainActor @Sendable () -> Void) async -> Bool {
        guard identifier == parts.uploads.session.identifier else { return false }
        // The wake-up ends when the outcomes of uploads are on disk and the tracker has taken them, for which it must run.
        try? await parts.tracker.start()
        return await parts.uploads.handleEvents(identifier: identifier, completion: completion)
    }

    // MARK: Pushes and sign-ins

    /// Names the push token that Firebase has given out: at each launch, and when it is replaced.
    ///
    /// - Parameters:
    ///   - token: The registration token of FCM, of up to 4,096 printable ASCII characters; not the device token of APNs.
    ///   - platform: The system of the device.
    public func pushTokenChanged(_ token: String, platform: TokenRegistrar.Platform = .ios) async {
        parts.api.setInstallation(token)
        await parts.registrar.tokenChanged(token, platform: platform)
    }

    /// Says whether the person wants pushes on this device; they do until the app says otherwise, which it does at each launch.
    public func wantsPushes(_ isWanted: Bool) async { await parts.registrar.wantsPushes(isWanted) }

    /// Tells the client that a person has signed in with Firebase. Call it after the sign-in, and at each launch with a signed-in person.
    ///
    /// - Parameter uid: The person's id at Firebase. With it, orders and sessions of another person here end, even if the app did not call
    ///   ``signOut()``. It is not sent.
    /// - Throws: `storage`; `invalid_argument` when the app does not sign in with Firebase.
    public func signedInWithFirebase(uid: String? = nil) async throws(HeliographError) {
        guard credentials.firebase != nil else { throw HeliographError(.invalidArgument, "The app does not sign in with Firebase") }
        try await parts.signedInWithFirebase(uid)
    }

    /// Signs out: ends the person's orders and sessions on this device, and their sign-in. An app with Firebase calls it before it signs
    /// out there.
    ///
    /// It waits five seconds for the API at most. When it returns, the credential and the secrets of orders and sessions are not on the
    /// device any more, even without a network.
    ///
    /// - Returns: Whether the API has confirmed the logout. If not, the client repeats the logout, even after an end of the app; a device
    ///   without space for the credential of the logout repeats it as long as the app runs, and after that the sign-in ends by its age.
    /// - Throws: `storage` when data of the person is still on the device, because it cannot be read, as before the first unlock after a
    ///   restart, or cannot be removed. Call it again, when the app becomes active at the latest: it removes the rest. Until then
    ///   ``AccountCredentials/session()`` tells whether the person is still signed in.
    @discardableResult
    public func signOut() async throws(HeliographError) -> Bool { try await parts.signOut() }
}
