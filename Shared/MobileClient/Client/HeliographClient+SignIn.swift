internal import Foundation

/// Changes of the account's sign-in, and their effect on the person's orders and sessions on this device.
extension HeliographClient.Parts {
    /// Takes the tokens of a sign-in by face into use. May be called again with the same tokens.
    func signIn(_ tokens: AccountTokens) async throws {
        let former = try await retiredSignIns.read().lastUserID
        // Orders that cannot be removed now have their owner's id, so they end later.
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

    /// Follows changes of the sign-in that this process does not cause: the API ends it, or another process changes it.
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
        // The API's answer counts. Data that remains on the disk is removed by its age, or when another account signs in.
        try? await leaveAccount()
        await signIns.end(signIn)
        await registrar.credentialsChanged()
    }

    /// Signs the person out: ends their orders and sessions, and takes their credential out of use. After a failed step the other steps
    /// still run, so that as little as possible is left.
    ///
    /// - Returns: Whether the API has been told everything.
    /// - Throws: `storage` when data of the person is still on the device. A repetition removes the rest.
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

    /// Ends all orders and sessions of the person on this device, and removes their secrets.
    ///
    /// - Throws: `storage` when some data of them is still on the device; all that could be ended have ended.
    func leaveAccount() async throws(HeliographError) {
        try await Self.performAll([
            { [sessions] () async throws(HeliographError) in try await sessions.signedOut() },
            { [self] () async throws(HeliographError) in try await removeSessions() },
            { [self] () async throws(HeliographError) in try await leaveOrders() },
        ])
    }

    /// Removes the remaining files of ended sessions.
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
