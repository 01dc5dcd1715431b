internal import Foundation

/// Manages all sign-ups and sign-ins by face of this device: begins them, continues sessions of a former process, and wakes them.
///
/// A device has one sign-in at a time: a new one ends the previous one. One manager for a folder and process.
actor EKYCSessionManager {
    /// Marks the files with photos among the files of the store.
    static let fileExtension = "ekyc"
    private static let maxEarlyPushes = 16

    let ports: EKYCPorts
    var drivers: [UUID: EKYCSessionDriver] = [:]
    private var starting: Task<Result<Void, HeliographError>, Never>?
    var isSwept = false
    /// Ids of pushes about sessions that were not known then, the newest last.
    private var earlyPushes: [UUID] = []
    private var signOuts = 0
    /// The failed sessions whose retakes are being created.
    private var retaking: Set<UUID> = []
    /// Counts the sign-ins by sessions, which may be another account's.
    private var signIns = 0

    init(_ ports: EKYCPorts) { self.ports = ports }

    // MARK: Sessions

    /// Checks the photos, keeps them, and begins to upload them.
    func signUp(
        _ photos: EKYCClient.SignUpPhotos, as owner: EKYCClient.Owner, consent: String?, answer: EKYCClient.ChallengeAnswer? = nil
    ) async throws(HeliographError) -> EKYCSession {
        try await begin { [scaler = ports.scaler] pushToken throws(HeliographError) in
            try await EKYCOrder(signUp: photos, as: owner, consent: consent, answer: answer, pushToken: pushToken, scaler: scaler)
        }
    }

    /// Checks the photos, ends the previous sign-in, stores the photos, and begins to upload them.
    func signIn(
        _ photos: [EKYCClient.Photo], email: String, challenge: EKYCClient.Challenge? = nil, proof: String? = nil
    ) async throws(HeliographError) -> EKYCSession {
        try await begin { [scaler = ports.scaler] pushToken throws(HeliographError) in
            try await EKYCOrder(signIn: photos, email: email, challenge: challenge, proof: proof, pushToken: pushToken, scaler: scaler)
        }
    }

    /// Checks the new photos, stores them, and begins to upload them in place of the bad ones of a failed session, which gives up its
    /// secret then: photos are retaken once.
    ///
    /// - Throws: `retake_unavailable` where that is known on this device.
    func retake(_ photos: [EKYCClient.Photo], of id: UUID) async throws(HeliographError) -> EKYCSession {
        try await start()
        guard retaking.insert(id).inserted else { throw EKYCRetake.unavailable }
        defer { retaking.remove(id) }
        let session = try await begin(retaking: id) { [scaler = ports.scaler] pushToken throws(HeliographError) in
            // Read after the count of sign-outs, so that no sign-out is missed.
            guard let former = await self.drivers[id]?.retake else { throw EKYCRetake.unavailable }
            return try await EKYCOrder(retaking: former, photos, pushToken: pushToken, scaler: scaler)
        }
        await drivers[id]?.closeRetake()
        return session
    }

    private func begin(
        retaking retaken: UUID? = nil,
        _ order: (_ pushToken: String) async throws(HeliographError) -> EKYCOrder
    ) async throws(HeliographError) -> EKYCSession {
        let former = (signOuts: signOuts, signIns: signIns)
        let order = try await order(try await pushToken())
        try await start()
        // Large photos take a while to scale. What would have ended the session meanwhile did not know it yet.
        guard signOuts == former.signOuts, order.sender != .account || signIns == former.signIns else {
            throw HeliographError(.signedOut, "The person has signed out meanwhile")
        }
        let driver = EKYCSessionDriver(order, ports, hooks)
        // A session whose photos are retaken keeps its secret until the retake has a copy of it on the disk.
        let older = order.kind == .signIn ? drivers.values.filter { $0.kind == .signIn && $0.id != retaken } : []
        // Registered before the first await, so that a sign-in that is begun meanwhile finds this one.
        drivers[driver.id] = driver
        for driver in older { await driver.stop(.superseded) }
        try await driver.begin()
        return driver.session
    }

    private func pushToken() async throws(HeliographError) -> String {
        guard let token = await ports.pushToken(), !token.isEmpty else {
            throw ArgumentLimits.refusal("fcm_token", "Firebase has not given this device a push token yet")
        }
        return token
    }

    /// The sessions whose outcome the app has not acknowledged, the oldest first: open and ended ones.
    func pending() async throws(HeliographError) -> [EKYCSession] {
        try await start()
        var sessions: [EKYCSession] = []
        for driver in drivers.values.sorted(by: { $0.createdAt < $1.createdAt }) {
            if await !driver.isRemoved { sessions.append(driver.session) }
        }
        return sessions
    }

    // MARK: What happens to the device

    /// Continues the sessions of a former process, and removes photos without a session. Called at launch, before the store is swept by
    /// age. A later call continues sessions whose secrets could not be read because the device was locked.
    func start() async throws(HeliographError) {
        if let starting { return try await starting.value.get() }
        let task = Task { () -> Result<Void, HeliographError> in
            do throws(HeliographError) {
                try await launchAll()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        starting = task
        let result = await task.value
        starting = nil
        try result.get()
    }

    /// A push about a session arrived: its state is asked for, whatever the push says. Returns when that has come to something.
    func pushArrived(sessionID text: String) async {
        guard let id = Self.uuid(text) else { return }
        try? await start()
        for driver in drivers.values where await driver.sessionID == id {
            await driver.wake()
            return await driver.quiet()
        }
        earlyPushes.append(id)
        if earlyPushes.count > Self.maxEarlyPushes { earlyPushes.removeFirst() }
    }

    /// The app came to the foreground, or the network returned.
    func wake() async {
        try? await start()
        for driver in drivers.values { await driver.wake() }
    }

    /// The account is being signed out on this device, or another account is signed in by other means than a session: all sessions end, and
    /// their data is removed. When this returns, no session can sign in any more; only then does the app remove its credentials.
    ///
    /// - Throws: `storage` when the device cannot read the files of a former process; the sessions of this process have ended all the same.
    func signedOut() async throws(HeliographError) {
        signOuts += 1
        let result: Result<Void, HeliographError>
        do throws(HeliographError) { result = .success(try await start()) } catch { result = .failure(error) }
        for driver in drivers.values { await driver.stop(.signedOut) }
        try result.get()
    }
}

extension EKYCSessionManager {
    var hooks: EKYCHooks {
        EKYCHooks(
            willSignIn: { [weak self] id in await self?.stopUploads(besides: id) },
            didBegin: { [weak self] id in await self?.takeEarlyPush(id) ?? false },
            acknowledge: { [weak self] id in await self?.acknowledge(id) },
            enterCode: { [weak self] id, code in await self?.enter(code, in: id) },
            didRemove: { [weak self] id in await self?.forget(id) })
    }

    private func stopUploads(besides id: UUID) async {
        signIns += 1
        for driver in drivers.values where driver.id != id {
            await driver.stopUploadOfAccount()
            await driver.closeRetakeOfAccount()
        }
    }

    private func takeEarlyPush(_ sessionID: UUID) -> Bool {
        guard let index = earlyPushes.firstIndex(of: sessionID) else { return false }
        earlyPushes.remove(at: index)
        return true
    }

    private func acknowledge(_ id: UUID) async { await drivers[id]?.acknowledge() }

    private func enter(_ code: String, in id: UUID) async { await drivers[id]?.enter(code) }

    private func forget(_ id: UUID) { drivers[id] = nil }
}
