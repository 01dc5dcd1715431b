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

    func current() async -> String? { try? await readable() }

    /// The id of the sign-in that is in use; nil when there is none. Throws `storage` where the device cannot tell.
    func readable() async throws(HeliographError) -> String? {
        if credentials.firebase != nil { return try await retiredSignIns.readable().firebase?.uuidString }
        return try await credentials.session()?.id.uuidString
    }

    func retired() async -> [String] {
        // One that is still current was retired by a process that ended before it could be taken out of use.
        let current = await current()
        return await retiredSignIns.read().sessions.map(\.id.uuidString).filter { $0 != current }
    }

    func retire(_ id: String) async {
        if let firebase = credentials.firebase {
            let token = try? await firebase(false)
            let now = time.now()
            do throws(HeliographError) {
                try await retiredSignIns.update { record in
                    guard let current = record.firebase, current.uuidString == id else { return }
                    record.firebase = nil
                    guard let token else { return }
                    let tokens = AccountTokens(accessToken: token, refreshToken: "", expiresIn: 3_600, userID: "")
                    record.sessions.append(AccountSession(id: current, tokens, receivedAt: now))
                }
            } catch {
                // To keep nothing needs no space.
                try? await retiredSignIns.update { record in
                    if record.firebase?.uuidString == id { record = RetiredSignIns.Record() }
                }
            }
            return
        }
        guard let session = try? await credentials.session(), session.id.uuidString == id else { return }
        // A device without space signs out all the same: the API then ends the sign-in with its age.
        try? await retiredSignIns.update { record in
            record.sessions.removeAll { $0.id == session.id }
            record.sessions.append(session)
        }
        _ = try? await credentials.signOut(session.id)
    }

    func logOut(_ id: String, installation: String?) async throws(HeliographError) {
        guard let session = await retiredSignIns.read().sessions.first(where: { $0.id.uuidString == id }) else {
            throw AccountCredentials.signedOut
        }
        do throws(HeliographError) {
            try await sender.send(Self.request(session.accessToken, installation))
        } catch {
            guard error.status == 401, !session.refreshToken.isEmpty else { throw error }
            try await sender.send(Self.request(try await renewed(session).accessToken, installation))
        }
    }

    /// Deletes the credential of a sign-in that the API has ended, if it is in use.
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

    /// The tokens in place of those that have expired. They are kept before they are used, because a refresh token is good once; on a
    /// device without space they are used all the same.
    private func renewed(_ session: AccountSession) async throws(HeliographError) -> AccountTokens {
        switch await exchange.renew(session.refreshToken, timeout: Self.renewalTime) {
        case .refused: throw AccountCredentials.signedOut
        case .failed(let error): throw error
        case .tokens(let tokens):
            await retiredSignIns.renew(AccountSession(id: session.id, tokens, receivedAt: time.now()))
            return tokens
        }
    }
}
