internal import Push

extension PushTarget {
    /// The field or the query parameter of a token.
    static let tokenField = "device_token"
    /// The field or the query parameter of a Firebase installation id.
    static let fidField = "fid"

    /// Reads a token or a Firebase installation id; one of them is enough. Nil without both.
    ///
    /// - Throws: `invalid_request` for an invalid value, and for two values of different installations.
    init?(ofClientToken token: String?, fid: String?) throws(APIError) {
        let byToken = try PushTarget(ofClient: token, field: Self.tokenField)
        let byID = try PushTarget(ofClient: fid, field: Self.fidField)
        guard byID?.kind != .token else {
            throw APIError(.invalidRequest, "The Firebase installation id is not one", field: Self.fidField)
        }
        if let byToken, let byID, byToken.installationKey != byID.installationKey {
            throw APIError(
                .invalidRequest, "The token and the Firebase installation id are of two installations", field: Self.fidField)
        }
        // An app that has both has moved to installation ids, so its token may not work any more.
        guard let target = byID ?? byToken else { return nil }
        self = target
    }

    /// Reads the token or installation id of a client's phone. Invisible characters around it are ignored.
    ///
    /// - Parameter field: The field that an error names.
    /// - Returns: nil when the value is absent or empty: a phone without pushes.
    /// - Throws: `invalid_request`, with the reason, for texts that phones send in place of a token.
    init?(ofClient text: String?, field: String) throws(APIError) {
        guard let text = text?.trimmed, !text.isEmpty else { return nil }
        do throws(PushTarget.Fault) { try self.init(checking: text) } catch {
            throw APIError(.invalidRequest, error.message, field: field)
        }
    }
}

extension PushTarget.Fault {
    fileprivate var message: String {
        switch self {
        case .placeholder: "The app has no push token: it sent a placeholder in its place. Leave the field out until FCM gives one"
        case .quoted: "The push token is in quotes or brackets: send the token itself"
        case .apnsToken: "This is a device token of APNs: send the registration token that FCM gives for it"
        case .expoToken: "This is a token of Expo's push service: send the registration token of FCM, by getDevicePushTokenAsync"
        case .unprintable: "The push token has white space or characters that no token has: send the token itself"
        case .malformed:
            "This has not the shape of FCM's registration tokens (22 characters, a colon, 140 more): without one, leave the field out"
        }
    }
}
