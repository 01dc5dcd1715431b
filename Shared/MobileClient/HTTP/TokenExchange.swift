internal import Foundation

/// Exchanges a refresh token for new tokens, once.
struct TokenExchange: Sendable {
    let builder: RequestBuilder
    let transport: any HTTPTransport
    let time: TimeSource
    /// Makes the proofs of the device's key; nil for sign-ins without one.
    var proofs: DeviceProofs?

    private struct Body: Encodable {
        var refreshToken: String

        enum CodingKeys: String, CodingKey { case refreshToken = "refresh_token" }
    }

    func renew(_ refreshToken: String, timeout: Duration) async -> TokenRenewal.Answer {
        let requestID = UUID().wireText
        do throws(HeliographError) {
            let response = try await send(refreshToken, requestID, timeout)
            if response.status == 200 {
                guard let tokens = try? JSONDecoder().decode(AccountTokens.self, from: response.body), !tokens.accessToken.isEmpty,
                    HeaderRules.isValue(tokens.accessToken), !tokens.refreshToken.isEmpty
                else {
                    return .failed(
                        HeliographError(
                            .unexpectedAnswer, "The answer to a refresh has no tokens", status: 200, requestID: requestID,
                            isRetryable: true))
                }
                return .tokens(tokens)
            }
            let error = HeliographError(response, requestID: requestID, now: time.now())
            guard response.status == 401 else { return .failed(error) }
            if error.isAboutDeviceKey { return error.isAboutOtherKey ? .refused : .failed(error) }
            // Only the API itself ends a sign-in: the 401 of a proxy or of a captive portal is no statement about the token.
            if ErrorAnswer(response)?.error.code == HeliographError.Code.unauthorized.rawValue { return .refused }
            return .failed(HeliographError(.unexpectedAnswer, error.message, status: 401, requestID: requestID, isRetryable: true))
        } catch {
            return .failed(error)
        }
    }

    /// Sends the request, and once more if the API gives a nonce for its proof. Both together take no longer than `timeout`.
    private func send(_ refreshToken: String, _ requestID: String, _ timeout: Duration) async throws(HeliographError) -> TransportResponse {
        let start = time.now()
        let response = try await sendOnce(refreshToken, requestID, timeout)
        let left = timeout - .seconds(max(0, time.now().timeIntervalSince(start)))
        guard let proofs, await proofs.note(response), left > .zero,
            ErrorAnswer(response)?.error.code == HeliographError.Code.useDPoPNonce.rawValue
        else { return response }
        return try await sendOnce(refreshToken, requestID, left)
    }

    private func sendOnce(
        _ refreshToken: String, _ requestID: String, _ timeout: Duration
    ) async throws(HeliographError) -> TransportResponse {
        let body: Data
        do { body = try JSONEncoder().encode(Body(refreshToken: refreshToken)) } catch {
            throw HeliographError(.invalidArgument, "The refresh token cannot be sent")
        }
        let request = APIRequest<Void>(
            method: "POST", path: "/api/v1/auth/refresh", bearer: .none, body: .json(body),
            timeout: timeout
        ) { _ in }
        var sent = try builder.build(request, bearer: nil, requestID: requestID)
        sent.headers["DPoP"] = try await proofs?.proof(for: sent, bearer: nil, .ofKey)
        do throws(TransportError) { return try await transport.send(sent, maxBytes: 1 << 16) } catch {
            throw HeliographError(error, requestID: requestID)
        }
    }
}
