internal import Foundation

/// The sign-ins of ``AccountCredentials``, as ``TokenRegistrar`` needs them: one is taken out of use first, and ended at the API later.
struct AccountSignIns: TokenRegistrar.SignIns {
    let credentials: AccountCredentials
    let retiredSignIns: RetiredSignIns
    let sender: any APISender
    let exchange: TokenExchange
    let time: TimeSource

    /// The time for a renewal that a logout needs.
    private static let renewalTime = Duration.seconds(10)

    func current() async throws(HeliographError) -> String? {
        if credentials.firebase != nil { return try await retiredSignIns.read().firebase?.uuidString }
        return try await credentials.session()?.id.uuidString
    }

    func retired() async -> [String] { await retiredSignIns.sessions().map(\.id.uuidString) }

    func retire() async throws(HeliographError) -> String? {
        if let firebase = credentials.firebase { return try await retire(firebase) }
        guard let session = try await credentials.session() else {
            try await credentials.forgetLost()
            return nil
        }
        await retiredSignIns.keep(session)
        try await credentials.signOut(session.id)
        return session.id.uuidString
    }

    /// The token of a Firebase account is stored before its sign-in is taken out of use; that changes the record of both a second time.
    private func retire(_ firebase: FirebaseTokenProvider) async throws(HeliographError) -> String? {
        guard let id = try await retiredSignIns.read().firebase else { return nil }
        if let token = try? await firebase(false) {
            let tokens = AccountTokens(accessToken: token, refreshToken: "", expiresIn: 3_600, userID: "")
            await retiredSignIns.keep(AccountSession(id: id, tokens, receivedAt: time.now()))
        }
        try await retiredSignIns.endFirebase(id)
        return id.uuidString
    }

    func logOut(_ id: String, installation: String?) async throws(HeliographError) {
        guard let session = try await retiredSignIns.session(id) else { throw AccountCredentials.signedOut }
        do throws(HeliographError) {
            try await sender.send(Self.request(session.accessToken, installation))
        } catch {
            guard error.status == 401, !session.refreshToken.isEmpty else { throw error }
            try await sender.send(Self.request(try await renewed(session).accessToken, installation))
        }
    }

    /// Deletes the credential of a sign-in that the API has ended, if it is in use. If it cannot be deleted now, it is useless: the next
    /// request with it is refused, and ends it.
    func end(_ id: String) async {
        if credentials.firebase != nil {
            try? await retiredSignIns.update { if $0.firebase?.uuidString == id { $0.firebase = nil } }
        } else if let session = try? await credentials.session(), session.id.uuidString == id {
            _ = try? await credentials.signOut(session.id)
        }
    }

    func discard(_ id: String) async { try? await retiredSignIns.update { $0.sessions.removeAll { $0.id.uuidString == id } } }

    private static func request(_ token: String, _ installation: String?) -> APIRequest<Void> {
        var request = AuthRequests.logOut()
        request.bearer = .token(token)
        request.headers[DeviceRequests.installationHeader] = installation
        return request
    }

    /// The tokens in place of the expired ones. They are stored before they are used, because a refresh token can be used once; on a device
    /// without space they are used all the same.
    private func renewed(_ session: AccountSession) async throws(HeliographError) -> AccountTokens {
        switch await exchange.renew(session.refreshToken, timeout: Self.renewalTime) {
        case .refused: throw AccountCredentials.signedOut
        case .failed(let error): throw error
        case .tokens(let tokens):
            await retiredSignIns.keep(AccountSession(id: session.id, tokens, receivedAt: time.now()))
            return tokens
        }
    }
}
