internal import Foundation

/// What happens to the account, and to what the person has begun on this device.
extension HeliographClient.Parts {
    /// Takes the tokens of a sign-in by face into use. May be called again with the same tokens.
    func signIn(_ tokens: AccountTokens) async throws {
        let former = await retiredSignIns.read().lastUserID
        if let former, former != tokens.userID { try? await leaveOrders() }
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
        guard await signIns.current() == signIn else { return }
        try? await leaveAccount()
        await signIns.end(signIn)
        await registrar.credentialsChanged()
    }

    /// Ends the sign-in, and everything that the person has begun on this device.
    ///
    /// - Returns: Whether the API knows already.
    /// - Throws: `storage` when something may be left; a repetition ends that.
    func signOut() async throws(HeliographError) -> Bool {
        // Where the device cannot tell whether a person is signed in, nothing is ended: it would go on when it can.
        let signIn = try await signIns.readable()
        let left: Result<Void, HeliographError>
        do throws(HeliographError) { left = .success(try await leaveAccount()) } catch { left = .failure(error) }
        let isKnown = await registrar.signOut()
        if let signIn, try await signIns.readable() == signIn {
            throw HeliographError(.storage, "The sign-in cannot be removed: call signOut() again", isRetryable: true)
        }
        try left.get()
        return isKnown
    }

    /// Ends everything that the person has begun on this device. A part that fails keeps no other from its end.
    ///
    /// - Throws: `storage` when something may be left. Sessions would go on; orders end by their owner's id when another account signs in,
    ///   or by their age.
    func leaveAccount() async throws(HeliographError) {
        let ended: Result<Void, HeliographError>
        do throws(HeliographError) { ended = .success(try await sessions.signedOut()) } catch { ended = .failure(error) }
        try await leaveOrders()
        try ended.get()
    }

    private func leaveOrders() async throws(HeliographError) {
        var first: HeliographError?
        do throws(HeliographError) { try await tracker.forgetAll() } catch { first = error }
        do throws(HeliographError) { try await uploads.signedOut() } catch { first = first ?? error }
        await presence.show(conversation: nil)
        push.visibleConversations = []
        await push.signedOut()
        if let first { throw first }
    }
}
