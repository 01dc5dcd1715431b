internal import Storage

extension PushTarget {
    /// Reads the token or installation id of a client's phone. White space around it does not count.
    ///
    /// - Parameter field: The field that an error names.
    /// - Returns: nil when the value is absent or empty: a phone without pushes.
    /// - Throws: `invalid_request` for what phones send in place of a token, with the reason.
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
        case .malformed: "The device's push token is not one"
        }
    }
}
