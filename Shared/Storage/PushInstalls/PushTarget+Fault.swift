extension PushTarget {
    /// Why a value is no registration token of FCM.
    public enum Fault: Error, Equatable, CaseIterable {
        /// What a phone without a token sends: the printed form of nothing, or an error that was stored as the token.
        ///
        /// Many phones share it, so that it would stand for all of them.
        case placeholder
        /// The token as a programming language or JSON prints it, in quotes or brackets.
        case quoted
        /// A device token of Apple's push service, in hexadecimal digits; FCM has another one for the same phone.
        case apnsToken
        /// Not of the characters and the length of any token.
        case malformed
    }

    /// In lower case. The words in capitals of Google's libraries are errors, and those of phones whose registration was revoked.
    fileprivate static let placeholders: Set<String> = [
        "null", "(null)", "<null>", "nil", "none", "undefined", "nan", "n/a", "na", "unknown", "empty", "false", "true", "0", "-1", "-",
        "blacklisted", "messenger", "service_not_available", "fis_auth_error", "authentication_failed", "too_many_registrations",
        "phone_registration_error", "invalid_sender", "token_not_available", "fcm_token", "device_token", "push_token",
    ]
    fileprivate static let quotes = Set("\"'`()<>{}[]".utf8)
    /// 32 bytes today, up to 100 by Apple's documentation.
    fileprivate static let apnsTokenDigits = 64...200
}

extension PushTarget.Fault {
    /// Returns what is wrong with a value; nil for one that may be a token.
    init?(of value: String) {
        let bytes = value.utf8
        if PushTarget.placeholders.contains(value.prefix { $0 != ":" }.lowercased()) {
            self = .placeholder
        } else if bytes.count > 1, bytes.contains(where: PushTarget.quotes.contains) {
            self = .quoted
        } else if PushTarget.apnsTokenDigits.contains(bytes.count),
            bytes.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit })
        {
            self = .apnsToken
        } else if bytes.isEmpty || bytes.first == UInt8(ascii: ":") || bytes.count > PushTarget.maxBytes
            || !bytes.allSatisfy({ 0x21...0x7E ~= $0 })
        {
            self = .malformed
        } else {
            return nil
        }
    }
}
