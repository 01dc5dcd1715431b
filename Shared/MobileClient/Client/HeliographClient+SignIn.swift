internal import Foundation

/// What happens to the account, and to what the person has begun on this device.
extension HeliographClient.Parts {
    /// Takes the tokens of a sign-in by face into use. May be called again with the same tokens.
    func signIn(_ tokens: AccountTokens) async throws {
        let former = await retiredSignIns.read().lastUserID
        if let former, former != tokens.userID { await leaveOrders() }
        if let current = try await api.credentials.session() {
            if current.refreshToken == tokens.refreshToken { return await signedIn() }
            await registrar.signOut()
        }
        try await retiredSignIns.update { $0.lastUserID = tokens.userID }
        try await api.credentials.signIn(tokens)
        await signedIn()
    }

    func signedInWithFirebase(_ uid: String?) async throws(HeliographError) {
        let former = await retiredSignIns.read().lastUserID
        let isOther = uid != nil && former != nil && uid != former
        if isOther { await leaveAccount() }
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
        guard await signIns.current() == signIn else { return }
        await leaveAccount()
        await signIns.end(signIn)
        await registrar.credentialsChanged()
    }

    /// Ends everything that the person has begun on this device.
    ///
    /// What a fault of the disk keeps from being ended is ended by its owner's id when another account signs in, or by its age.
    func leaveAccount() async {
        try? await sessions.signedOut()
        await leaveOrders()
    }

    private func leaveOrders() async {
        try? await tracker.forgetAll()
        try? await uploads.signedOut()
        await presence.show(conversation: nil)
        push.visibleConversations = []
        await push.signedOut()
    }
}
