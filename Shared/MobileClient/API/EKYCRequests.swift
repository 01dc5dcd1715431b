internal import Foundation

/// The requests of sign-ups and sign-ins by face, and of their sessions.
enum EKYCRequests {
    /// The answer to an upload: the session, and the token by which this device asks for it.
    struct Started: Hashable, Sendable {
        var sessionID: UUID
        var token: String
    }

    /// The header with the token of a session.
    private static let tokenHeader = "X-Session-Token"

    private struct Session: Decodable {
        var sessionID: UUID

        enum CodingKeys: String, CodingKey { case sessionID = "session_id" }
    }

    /// The answer is not one of this API, or not to this request.
    private struct Unexpected: Error {}

    /// Asks for a challenge. Each request gets another challenge, and the API stores none of them, so the request is repeated where that
    /// may help.
    static func challenge() -> APIRequest<EKYCClient.Challenge> {
        APIRequest(method: "POST", path: "/v1/ekyc/challenges", bearer: .none, idempotencyKey: UUID()) { response in
            var challenge: EKYCClient.Challenge = try WireJSON.content(response)
            guard let now = WireJSON.time(of: response) else { throw Unexpected() }
            challenge.validFor = .seconds(min(max(challenge.expiresAt.timeIntervalSince(now), 0), 3_600))
            return challenge
        }
    }

    /// Uploads the photos. For ten minutes a repetition with the same key, body and sender gets the first answer.
    ///
    /// - Parameters:
    ///   - bearer: Of the account or the enrolment, for a sign-up without an e-mail address.
    ///   - retakenToken: The token of the failed session whose photos are retaken; nil for an upload of all photos.
    static func upload(
        _ kind: EKYCSession.Kind, _ body: URL, boundary: String, bearer: APIRequest<Started>.Bearer, key: UUID,
        retakenToken: String? = nil
    ) -> APIRequest<Started> {
        let path = kind == .signUp ? "/api/v1/ekyc/upload-photos" : "/api/v1/ekyc/login"
        let proof: DPoPProof.Use = kind == .signIn ? .ofUsableKey : bearer == .account ? .ofKey : .none
        return APIRequest(
            method: "POST", path: path, bearer: bearer, body: .multipart(file: body, boundary: boundary),
            headers: retakenToken.map { [tokenHeader: $0] } ?? [:], idempotencyKey: key, proof: proof, timeout: .seconds(180)
        ) { response in
            let session: Session = try WireJSON.content(response)
            guard let token = response.headers[tokenHeader], (16...512).contains(token.utf8.count),
                token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw Unexpected() }
            return Started(sessionID: session.sessionID, token: token)
        }
    }

    /// Asks for the state of a session.
    ///
    /// - Parameters:
    ///   - wait: The seconds for which the API holds its answer while the session is undecided; 60 at most.
    ///   - time: The device's clock, by which the time for a retake is given.
    static func status(
        _ sessionID: UUID, token: String, wait: Int, time: TimeSource = .system
    ) -> APIRequest<EKYCSessionReducer.Verdict> {
        APIRequest(
            method: "GET", path: "/api/v1/ekyc/sessions/\(sessionID.wireText)",
            query: wait > 0 ? [URLQueryItem(name: "wait", value: "\(wait)")] : [], bearer: .token(token),
            timeout: .seconds(15 + wait)
        ) { response in
            let status: EKYCStatus = try WireJSON.content(response)
            guard status.sessionID == sessionID else { throw Unexpected() }
            return status.verdict(at: time.now(), response.headers["Date"].flatMap(WireDate.parseHTTP))
        }
    }

    private struct Redemption: Encodable { let code: String }

    /// Exchanges a sign-in that succeeded for its tokens. A repetition gets the same by the session's token, so it has a key that the API
    /// does not need; but a wrong code that is repeated takes another attempt.
    ///
    /// - Parameter code: The mailed code, on a device that is new to the account.
    static func redeem(_ sessionID: UUID, token: String, code: String? = nil) -> APIRequest<AccountTokens> {
        APIRequest(
            method: "POST", path: "/api/v1/ekyc/sessions/\(sessionID.wireText)/token", bearer: .token(token),
            body: code.map { .json(WireJSON.data(Redemption(code: $0))) } ?? .none, idempotencyKey: code == nil ? UUID() : nil,
            proof: .ofKey
        ) { response in
            let tokens: AccountTokens = try WireJSON.bare(response)
            guard !tokens.accessToken.isEmpty, !tokens.refreshToken.isEmpty, !tokens.userID.isEmpty else { throw Unexpected() }
            return tokens
        }
    }

    /// Ends a sign-in whose tokens this device does not use.
    static func discard(_ tokens: AccountTokens) -> APIRequest<Void> {
        var request = AuthRequests.logOut()
        request.bearer = .token(tokens.accessToken)
        return request
    }
}
