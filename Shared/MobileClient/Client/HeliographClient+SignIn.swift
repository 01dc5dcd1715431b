internal import Foundation

/// What happens to the account, and to what the person has begun on this device.
extension HeliographClient.Parts {
    /// Takes the tokens of a sign-in by face into use. May be called again with the same tokens.
    func signIn(_ tokens: AccountTokens) async throws {
        let former = try await retiredSignIns.read().lastUserID
        // Orders that cannot be removed now have their owner's id, by which they end later.
        if let former, former != tokens.userID { try? await leaveOrders() }
        if let current = try await api.credentials.session() {
            if current.refreshToken == tokens.refreshToken { return await signedIn() }
            try await registrar.signOut()
        }
        try await retiredSignIns.update { $0.lastUserID = tokens.userID }
        try await api.credentials.signIn(tokens)
        await signedIn()
    }

    func signedInWithFirebase(_ uid: String?) async throws(HeliographError) {
        let former = try await retiredSignIns.read().lastUserID
        let isOther = uid != nil && former != nil && uid != former
        if isOther { try await leaveAccount() }
        try await retiredSignIns.update { record in
            if isOther || record.firebase == nil { record.firebase = UUID() }
            record.lastUserID = uid ?? record.lastUserID
        }
        await signedIn()
    }

    /// A person is signed in: what waited for that goes on.
    func signedIn() async {
        await registrar.signedIn()
        await uploads.bearerMayBeHad()
        await tracker.networkReturned()
        await push.flush()
    }

    /// Follows what happens to the sign-in by itself: the API ends it, or another process changes it.
    func followSignIn() async {
        let isFirst = isFollowing.withLock { isFollowing in
            defer { isFollowing = true }
            return !isFollowing
        }
        guard isFirst else { return }
        let states = await api.credentials.states()
        Task { [weak self] in
            for await state in states { await self?.signInChanged(to: state) }
        }
    }

    private func signInChanged(to state: AccountCredentials.SignInState) async {
        await registrar.credentialsChanged()
        guard case .signedIn = state else { return }
        await tracker.forgetOthers()
        await uploads.bearerMayBeHad()
    }

    /// The API has ended a sign-in at this device's request: ends it here, unless another has taken its place.
    func ended(_ signIn: String) async {
        guard (try? await signIns.current()) == signIn else { return }
        // The API's answer counts. What the disk keeps now ends by its age, or when another account signs in.
        try? await leaveAccount()
        await signIns.end(signIn)
        await registrar.credentialsChanged()
    }

    /// Signs the person out: ends what they have begun, and takes their credential out of use. A step that fails keeps no other from its
    /// own, so that as little as possible is left.
    ///
    /// - Returns: Whether nothing is left to tell the API.
    /// - Throws: `storage` when something of the person is still on the device. A repetition removes what is left.
    func signOut() async throws(HeliographError) -> Bool {
        let isKnown = Locked(true)
        do throws(HeliographError) {
            try await Self.performAll([
                { [self] () async throws(HeliographError) in try await leaveAccount() },
                { [registrar] () async throws(HeliographError) in
                    let result = try await registrar.signOut()
                    isKnown.withLock { $0 = result }
                },
            ])
        } catch {
            throw HeliographError(
                .storage,
                "The sign-out is not complete: call signOut() again when the device is unlocked and can change its files. \(error.message)",
                isRetryable: true)
        }
        return isKnown.withLock { $0 }
    }

    /// Ends everything that the person has begun on this device, and removes its secrets.
    ///
    /// - Throws: `storage` when some of it is still on the device; what can be ended has ended.
    func leaveAccount() async throws(HeliographError) {
        try await Self.performAll([
            { [sessions] () async throws(HeliographError) in try await sessions.signedOut() },
            { [self] () async throws(HeliographError) in try await removeSessions() },
            { [self] () async throws(HeliographError) in try await leaveOrders() },
        ])
    }

    /// Removes what the disk has kept of sessions that have ended.
    private func removeSessions() async throws(HeliographError) {
        var live: Set<UUID> = []
        for driver in await sessions.drivers.values where await !driver.isDecided { live.insert(driver.id) }
        for task in try await sessionStore.tasks() where task.kind == .ekycSession && !live.contains(task.id) {
            try await sessionStore.update(task.id) { $0 = nil }
        }
        let keys = Set(live.map(EKYCSecret.key))
        for key in try await secrets.keys().keys where !keys.contains(key) { try await secrets.remove(key) }
    }

    private func leaveOrders() async throws(HeliographError) {
        await presence.show(conversation: nil)
        push.visibleConversations = []
        await push.signedOut()
        try await Self.performAll([
            { [tracker] () async throws(HeliographError) in try await tracker.forgetAll() },
            { [uploads] () async throws(HeliographError) in try await uploads.signedOut() },
        ])
    }
}
