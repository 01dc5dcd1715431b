internal import FoundationEssentials
internal import HeliographCrypto
internal import Storage
internal import WireFormat

/// Derives storable values from personal data: keyed hashes for look-ups, and sealed values that can be opened again.
struct AccountKeys: Sendable {
    private let lookupKey: [UInt8]
    /// Seals e-mails, names and the texts of reports.
    private let accountSealer: Sealer
    /// Seals push tokens and the texts of notifications.
    private let tokenSealer: Sealer
    /// The HMAC that derives tokens, under a key of its own.
    private let tokenCode: HMACSHA256
    /// The HMAC that derives mailed codes, under a key of its own.
    private let mailedCode: HMACSHA256

    init(lookupKey: [UInt8], accounts: Sealer, tokens: Sealer) {
        self.lookupKey = lookupKey
        accountSealer = accounts
        tokenSealer = tokens
        tokenCode = HMACSHA256(key: HMACSHA256.authenticate(Array("heliograph token pair".utf8), key: lookupKey))
        mailedCode = HMACSHA256(key: HMACSHA256.authenticate(Array("heliograph mailed code".utf8), key: lookupKey))
    }

    /// Derives the tokens that a device gets for its sign-in.
    ///
    /// The same session token gives the same pair, so that a device that lost the answer can ask again although no token is stored. The
    /// session token is a secret of 256 bits that only the device has; without it the key gives no token.
    func tokens(redeeming sessionID: UUID, with sessionToken: String) -> TokenPair {
        tokens("session:\(sessionID.wireString):\(sessionToken)")
    }

    /// Derives the tokens that replace those of a refresh token; the same pair each time, as for ``tokens(redeeming:with:)``.
    func tokens(refreshing refreshToken: String) -> TokenPair { tokens("refresh:\(refreshToken)") }

    /// Derives the session token of a request that may be repeated: each repetition gets the same, although only its hash is stored.
    ///
    /// It is derived from the request's key and its photos, which only the device has, under a key that only the service has.
    func sessionToken(of sessionID: UUID, key: String, fingerprint: [UInt8]) -> OpaqueToken {
        let message = "repeatable:\(sessionID.wireString):\(Hex.encode(fingerprint)):\(key)"
        return OpaqueToken(text: Base64URL.encode(tokenCode.authenticate(Array(message.utf8))))
    }

    private func tokens(_ secret: String) -> TokenPair {
        func token(_ kind: String) -> OpaqueToken {
            OpaqueToken(text: Base64URL.encode(tokenCode.authenticate(Array("\(kind):\(secret)".utf8))))
        }
        return TokenPair(access: token("access"), refresh: token("refresh"))
    }

    /// The keyed hash by which the account of an e-mail is found.
    func emailLookup(_ email: EmailAddress) -> [UInt8] { email.lookup(under: lookupKey) }

    /// The id by which attempts with an e-mail are counted and repeated, whether it has an account or not. It is no account's id.
    func attemptKey(_ email: EmailAddress) -> UUID {
        UUID(hash: authenticated("attempt_key:\(email.normalised)"))
    }

    /// The e-mail in the form in which it is stored.
    func sealed(_ email: EmailAddress) throws(CryptoError) -> SealedEmail {
        let lookup = emailLookup(email)
        return SealedEmail(lookup: lookup, sealed: try sealed(email.normalised, context: SealingContext.email(lookup: lookup)))
    }

    /// Opens a stored e-mail.
    func address(_ email: SealedEmail) throws(CryptoError) -> String {
        try opened(email.sealed, context: SealingContext.email(lookup: email.lookup))
    }

    /// The code that is mailed for a verification: six digits, which cannot be computed without the lookup key. It is not stored, and each
    /// attempt to mail it finds the same one.
    func code(of verification: EmailVerification) -> String {
        let message = "\(verification.id.wireString):\(verification.codeNumber)"
        let digest = mailedCode.authenticate(Array(message.utf8)).prefix(8)
        let digits = String(digest.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The token that a verified e-mail's code is exchanged for; the same each time, although only its hash is stored.
    func enrolmentToken(of verification: EmailVerification) -> OpaqueToken {
        let message = "enrolment:\(verification.id.wireString)"
        return OpaqueToken(text: OpaqueToken.enrolmentPrefix + Base64URL.encode(tokenCode.authenticate(Array(message.utf8))))
    }

    /// The keyed hash by which the account of an identity provider's user is found.
    func subjectLookup(_ subject: String, of issuer: String) -> [UInt8] { authenticated("subject:\(issuer):\(subject)") }

    /// Seals a user's display name.
    func sealed(_ name: DisplayName, of userID: UUID) throws(CryptoError) -> [UInt8] {
        try sealed(name.text, context: SealingContext.displayName(userID: userID))
    }

    /// Opens a user's display name; nil when none is set.
    func displayName(of user: User) throws(CryptoError) -> String? {
        try user.displayNameSealed.map { sealed throws(CryptoError) in
            try opened(sealed, context: SealingContext.displayName(userID: user.id))
        }
    }

    /// Opens the display name of an account; nil when none is set.
    func displayName(of account: AccountSummary) throws(CryptoError) -> String? {
        try account.displayNameSealed.map { sealed throws(CryptoError) in
            try opened(sealed, context: SealingContext.displayName(userID: account.id))
        }
    }

    /// Opens a text of an account that was sealed under a context.
    func opened(_ sealed: [UInt8], context: [UInt8]) throws(CryptoError) -> String {
        String(decoding: try accountSealer.open(sealed, context: context), as: UTF8.self)
    }

    /// Seals a text of an account under a context.
    func sealed(_ text: String, context: [UInt8]) throws(CryptoError) -> [UInt8] {
        try accountSealer.seal(Array(text.utf8), context: context)
    }

    /// Seals a push token, or a text of a notification, under a context; notifier opens them.
    func sealedForPush(_ text: String, context: [UInt8]) throws(CryptoError) -> [UInt8] {
        try tokenSealer.seal(Array(text.utf8), context: context)
    }

    func installationKey(_ target: PushTarget) -> [UInt8] {
        HMACSHA256.authenticate(target.installationKeyMessage, key: lookupKey)
    }

    func valueHash(_ target: PushTarget) -> [UInt8] {
        HMACSHA256.authenticate(target.valueHashMessage, key: lookupKey)
    }

    /// Turns a push token that a device just sent into the registration of its installation.
    func registration(of target: PushTarget, seenAt: Date) throws(CryptoError) -> PushRegistration {
        let key = installationKey(target)
        let sealed = try sealedForPush(target.value, context: SealingContext.pushInstall(installationKey: key))
        return PushRegistration(
            installationKey: key, kind: target.kind, valueSealed: sealed,
            valueHash: valueHash(target), seenAt: seenAt)
    }

    /// The keyed hash by which a client's subscriber address is counted; the address itself is not stored.
    func addressKey(_ address: IPAddress) -> [UInt8] {
        let subscriber = address.subscriber
        return authenticated("address:\(subscriber.high):\(subscriber.low)")
    }

    /// The HMAC of a text under the lookup key, which identifies the text without storing it.
    func authenticated(_ text: String) -> [UInt8] { HMACSHA256.authenticate(Array(text.utf8), key: lookupKey) }
}
