extension PushTarget {
    /// Why a value is no registration token of FCM.
    public enum Fault: Error, Equatable, CaseIterable {
        /// The texts that a phone without a token sends: the printed form of a missing value, or an error that was stored as the token.
        ///
        /// Many phones send the same text, so it would identify all of them.
        case placeholder
        /// The token as a programming language or JSON prints it, in quotes or brackets.
        case quoted
        /// A device token of Apple's push service, in hexadecimal digits; FCM has another one for the same phone.
        case apnsToken
        /// A token of Expo's push service, which only that service can send to.
        case expoToken
        /// A value with white space or characters that no token has, such as a whole header or a sentence.
        case unprintable
        /// Any other value without the shape of a token.
        case malformed
    }

    /// In lower case. Google's libraries print errors, and revoked registrations, as words in capitals.
    ///
    /// The words only select the reason: no other word has the shape of a token either.
    fileprivate static let placeholders: Set<String> = [
        "null", "(null)", "<null>", "nil", "none", "undefined", "nan", "n/a", "na", "unknown", "empty", "false", "true", "0", "-1", "-",
        "_", "blacklisted", "messenger", "service_not_available", "fis_auth_error", "authentication_failed", "too_many_registrations",
        "phone_registration_error", "invalid_sender", "token_not_available", "fcm_token", "device_token", "push_token", "no_token",
        "no-token", "notavailable", "not_available", "missing_instanceid_service", "permission_denied", "notification_disabled", "error",
        "string", "test", "token", "placeholder", "mock_token", "default", "web", "ios", "android",
    ]
    fileprivate static let quotes = Set("\"'`()<>{}[]".utf8)
    /// 32 bytes today, up to 100 by Apple's documentation.
    fileprivate static let apnsTokenDigits = 64...200
}

extension PushTarget.Fault {
    /// Returns the fault of a value; nil for a value with the shape of a token or of an installation id.
    init?(of value: String) {
        let bytes = value.utf8
        if PushTarget.hasShape(bytes) { return nil }
        if PushTarget.placeholders.contains(value.prefix { $0 != ":" }.lowercased()) {
            self = .placeholder
        } else if value.hasPrefix("ExponentPushToken[") || value.hasPrefix("ExpoPushToken[") {
            self = .expoToken
        } else if Self.isAPNsToken(value) {
            self = .apnsToken
        } else if bytes.contains(where: PushTarget.quotes.contains) {
            self = .quoted
        } else if !bytes.allSatisfy({ 0x21...0x7E ~= $0 }) {
            self = .unprintable
        } else {
            self = .malformed
        }
    }

    /// Whether a value is the bytes of a device token, as they are or as iOS prints them.
    private static func isAPNsToken(_ value: String) -> Bool {
        let digits = value.utf8.filter { !"<> ".utf8.contains($0) }
        return value.hasPrefix("{length = 32, bytes = 0x")
            || PushTarget.apnsTokenDigits.contains(digits.count)
                && digits.allSatisfy { UnicodeScalar($0).properties.isASCIIHexDigit }
    }
}
