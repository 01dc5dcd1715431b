internal import Foundation

/// The credentials of requests.
extension AccountCredentials {
    /// The credential of a request of the account, renewed if it has expired; nil when no person is signed in.
    func credential() async throws(HeliographError) -> Credential? {
        if let firebase { return try await Self.credential(firebase, forceRefresh: false) }
        guard var session = try await session() else { return nil }
        for _ in 0..<Self.maxRounds where session.renewAt <= time.now() {
            do throws(HeliographError) {
                try await renewal.renew(TokenRefreshReducer.Need(signIn: session.id, replacing: session.accessToken))
            } catch  where error.isRetryable && session.expiresAt > time.now() {
                // The token is still good.
                break
            }
            let expired = session
            session = try await sameSignIn(as: session.id)
            if session.accessToken != expired.accessToken { break }
        }
        return Credential(token: session.accessToken, signIn: session.id)
    }

    /// Returns a new credential in place of a refused one, of the same sign-in: the request must not become another person's.
    ///
    /// - Returns: nil when the tokens were not renewed because they are new: then the API refuses the request, not the token.
    /// - Throws: `signed_out` when that sign-in has ended.
    func replacement(for refused: Credential) async throws(HeliographError) -> Credential? {
        guard let signIn = refused.signIn else {
            guard let firebase, let credential = try await Self.credential(firebase, forceRefresh: true) else { throw Self.signedOut }
            return credential
        }
        for _ in 0..<Self.maxRounds {
            let session = try await sameSignIn(as: signIn)
            if session.accessToken != refused.token { return Credential(token: session.accessToken, signIn: signIn) }
            try await renewal.renew(TokenRefreshReducer.Need(signIn: signIn, replacing: refused.token))
        }
        let session = try await sameSignIn(as: signIn)
        return session.accessToken == refused.token ? nil : Credential(token: session.accessToken, signIn: signIn)
    }

    private func sameSignIn(as id: UUID) async throws(HeliographError) -> AccountSession {
        guard let session = try await session(), session.id == id else { throw Self.signedOut }
        return session
    }

    static let signedOut = HeliographError(.signedOut, "The call needs a person who is signed in")

    private static func credential(
        _ provider: FirebaseTokenProvider, forceRefresh: Bool
    ) async throws(HeliographError) -> Credential? {
        do { return Credential(token: try await provider(forceRefresh)) } catch let error as HeliographError {
            if error.code == .signedOut { return nil }
            throw error
        } catch is CancellationError {
            throw HeliographError(.cancelled, "The task was cancelled")
        } catch {
            throw HeliographError(.unreachable, "The app's Firebase token cannot be had: \(type(of: error))", isRetryable: true)
        }
    }
}
