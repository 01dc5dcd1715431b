internal import Foundation

extension APIClient {
    /// Sends a request until it has an answer with a status of success, or an error that stays.
    func perform<Answer>(
        _ request: APIRequest<Answer>, mayRepeat: Bool = true,
        exchange: (TransportRequest) async throws(TransportError) -> TransportResponse
    ) async throws(HeliographError) -> TransportResponse {
        // One id for all attempts: the operator finds them together.
        let requestID = (request.idempotencyKey ?? UUID()).wireText
        var credential = try await credential(for: request)
        var isRenewed = false
        var (attempt, lastWithNonce) = (1, 0)
        while true {
            let error: HeliographError
            let sent = try await proven(request, bearer: Self.token(of: request, credential), requestID: requestID)
            var hasNonce = false
            do throws(TransportError) {
                let response = try await exchange(sent)
                hasNonce = await proofs?.note(response) ?? false
                if 200...299 ~= response.status || response.status == 304 {
                    budget.withLock { $0.noteSuccess() }
                    return response
                }
                error = HeliographError(response, requestID: requestID, now: time.now())
            } catch let failure {
                error = HeliographError(failure, requestID: requestID)
            }
            if error.code == .useDPoPNonce, hasNonce, lastWithNonce < attempt {
                lastWithNonce = attempt
                continue
            }
            if error.status == 401, !error.isAboutDeviceKey, let refused = credential, !isRenewed {
                isRenewed = true
                guard let replacement = try await credentials.replacement(for: refused) else { throw error }
                credential = replacement
                continue
            }
            guard request.isRepeatable, mayRepeat, let delay = repetition.delay(after: error, attempt: attempt),
                budget.withLock({ $0.take() })
            else { throw error }
            attempt += 1
            do { try await time.sleep(delay) } catch { throw HeliographError(.cancelled, "The task was cancelled") }
        }
    }

    private func credential(
        for request: APIRequest<some Sendable>
    ) async throws(HeliographError) -> AccountCredentials.Credential? {
        switch request.bearer {
        case .none, .token: return nil
        case .accountIfSignedIn: return try await credentials.credential()
        case .account:
            guard let credential = try await credentials.credential() else { throw AccountCredentials.signedOut }
            return credential
        }
    }

    private static func token(of request: APIRequest<some Sendable>, _ credential: AccountCredentials.Credential?) -> String? {
        if case .token(let token) = request.bearer { token } else { credential?.token }
    }

    /// The request as it is sent, with a proof of its own if it needs one.
    private func proven(
        _ request: APIRequest<some Sendable>, bearer: String?, requestID: String
    ) async throws(HeliographError) -> TransportRequest {
        var sent = try builder.build(named(request), bearer: bearer, requestID: requestID)
        if let proofs, request.proof != .none {
            sent.headers["DPoP"] = try await proofs.proof(for: sent, bearer: bearer, request.proof)
        }
        return sent
    }

    /// The request with the header that names the phone of a Firebase user.
    private func named<Answer>(_ request: APIRequest<Answer>) -> APIRequest<Answer> {
        guard credentials.firebase != nil, [.account, .accountIfSignedIn].contains(request.bearer), let id = installationID.withLock({ $0 })
        else { return request }
        var request = request
        request.headers["X-Firebase-Installation-ID"] = id
        return request
    }
}
