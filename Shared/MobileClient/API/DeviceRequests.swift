/// The requests about the push token of this installation (CONTRACT §3).
enum DeviceRequests {
    /// The answer to a registration.
    enum Registration: Sendable, Equatable {
        /// The installation is the account's.
        case registered
        /// Another account has the installation until the app returns the nonce that is pushed to the token.
        case pending(handOverID: String, expiresIn: Duration)
    }

    private struct Device: Encodable {
        let token: String
        let platform: String
        let appVersion: String?
        let locale: String?

        enum CodingKeys: String, CodingKey {
            case token = "device_token"
            case platform
            case appVersion = "app_version"
            case locale
        }
    }

    private struct Proof: Encodable {
        let handOverID: String
        let nonce: String

        enum CodingKeys: String, CodingKey {
            case handOverID = "handover_id"
            case nonce
        }
    }

    private struct Claim: Decodable {
        let handOverID: String
        let expiresIn: Int?

        enum CodingKeys: String, CodingKey {
            case handOverID = "handover_id"
            case expiresIn = "expires_in"
        }
    }

    private static let path = "/v1/users/device-token"
    private static let maxAnswerBytes = 1 << 16
    /// The time for which a claim waits for its nonce, if the answer has no time.
    private static let claimSeconds = 600

    /// Registers a token for the account. It may be repeated: the API then changes nothing.
    static func register(token: String, platform: String, appVersion: String?, locale: String?) -> APIRequest<Registration> {
        let device = Device(token: token, platform: platform, appVersion: appVersion, locale: locale)
        return APIRequest(method: "POST", path: path, body: .json(WireJSON.data(device)), maxAnswerBytes: maxAnswerBytes) { response in
            guard response.status == 202 else { return .registered }
            let claim: Claim = try WireJSON.content(response)
            // A faulty answer must not make the registrar ask without a pause, and must not silence the phone for long.
            return .pending(handOverID: claim.handOverID, expiresIn: .seconds(min(max(claim.expiresIn ?? claimSeconds, 30), 3_600)))
        }
    }

    /// Returns the nonce of a push `possession_check`. A repetition gets the same answer.
    static func confirm(handOverID: String, nonce: String) -> APIRequest<Void> {
        let proof = Proof(handOverID: handOverID, nonce: nonce)
        return APIRequest(
            method: "POST", path: path + "/confirm", body: .json(WireJSON.data(proof)), maxAnswerBytes: maxAnswerBytes, decode: { _ in })
    }

    /// Ends the pushes to the installation that the sign-in is tied to.
    ///
    /// - Parameter installation: The push token, which names the installation of an account of a Firebase project.
    static func remove(installation: String? = nil) -> APIRequest<Void> {
        var request = APIRequest<Void>(method: "DELETE", path: path, maxAnswerBytes: maxAnswerBytes, decode: { _ in })
        request.headers[installationHeader] = installation
        return request
    }

    /// The header that names the phone in requests of a Firebase project's account. Presence, receipts and the logout take it as well. It
    /// is ignored for an access token of this API, which is tied to its phone.
    static let installationHeader = "X-Firebase-Installation-ID"
}
