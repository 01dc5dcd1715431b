internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import Push
internal import WireFormat

/// Derives storable values from personal data: keyed hashes for look-ups, and sealed values that can be opened again.
struct AccountKeys: Sendable {
    private let lookupKeys: LookupKeys
    /// Seals e-mails, names and the texts of reports.
    private let accountSealer: Sealer
    /// Seals push tokens and the texts of notifications.
    private let tokenSealer: Sealer
    /// The keys that derive tokens.
    private let tokenKeys: LookupKeys
    /// The keys that derive mailed codes.
    private let codeKeys: LookupKeys

    init(lookupKeys: LookupKeys, accounts: Sealer, tokens: Sealer) {
        self.lookupKeys = lookupKeys
        accountSealer = accounts
        tokenSealer = tokens
        tokenKeys = lookupKeys.derived(for: "heliograph token pair")
        codeKeys = lookupKeys.derived(for: "heliograph mailed code")
    }

    /// Derives the tokens that a device gets for its sign-in: one pair from each key. The first key's pair is issued; another key may have
    /// issued its pair before.
    ///
    /// The same session token gives the same pairs, so a device whose response was lost can ask again, although no token is stored. The
    /// session token is a secret of 256 bits that only the device has; without it a key gives no token.
    func tokens(redeeming sessionID: UUID, with sessionToken: String) -> [TokenPair] {
        tokens("session:\(sessionID.wireString):\(sessionToken)")
    }

    /// Derives the tokens that replace the pair of a refresh token. Repeated calls return the same pairs, as ``tokens(redeeming:with:)``
    /// does.
    func tokens(refreshing refreshToken: String) -> [TokenPair] { tokens("refresh:\(refreshToken)") }

    /// Derives the session token of a request that may be repeated: each repetition gets the same, although only its hash is stored. The
    /// first one is for a new session; another key may have given another one.
    ///
    /// It is derived from the request's key and its photos, which only the device has, under a key that only the service has.
    func sessionTokens(of sessionID: UUID, key: String, fingerprint: [UInt8]) -> [OpaqueToken] {
        tokenKeys.hashes(of: "repeatable:\(sessionID.wireString):\(Hex.encode(fingerprint)):\(key)")
            .map { OpaqueToken(text: Base64URL.encode($0)) }
    }

    private func tokens(_ secret: String) -> [TokenPair] {
        func tokens(_ kind: String) -> [OpaqueToken] {
            tokenKeys.hashes(of: "\(kind):\(secret)").map { OpaqueToken(text: Base64URL.encode($0)) }
        }
        return zip(tokens("access"), tokens("refresh")).map { TokenPair(access: $0, refresh: $1) }
    }

    /// The lookups by which the account of an e-mail is found, one for each key.
    func emailLookups(_ email: EmailAddress) -> [[UInt8]] { email.lookups(under: lookupKeys) }

    /// The ids by which attempts with an e-mail are counted and repeated, whether it has an account or not: the first id is stored; the
    /// others may have been stored before a rotation. None is the id of an account.
    func attemptKeys(_ email: EmailAddress) -> [UUID] { emailLookups(email).map(AttemptKey.derive(from:)) }

    /// The stored form of the e-mail of an account, which may not exist yet.
    func sealed(_ email: EmailAddress, of accountID: UUID) throws(CryptoError) -> SealedEmail {
        let sealed = try sealed(email.normalised, context: SealingContext.email(accountID: accountID))
        return SealedEmail(lookups: emailLookups(email), sealed: sealed)
    }

    /// Opens the stored e-mail of an account, which may not exist yet.
    func address(_ sealed: [UInt8], of accountID: UUID) throws(CryptoError) -> String {
        try opened(sealed, context: SealingContext.email(accountID: accountID))
    }

    /// The codes that may have been mailed for a verification; the first one is mailed now: six digits, which cannot be computed without a
    /// key. They are not stored: each attempt to mail a code derives the same one.
    func codes(of verification: EmailVerification) -> [String] {
        codeKeys.hashes(of: "\(verification.id.wireString):\(verification.codeNumber)").map { hash in
            let digits = String(hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000)
            return String(repeating: "0", count: 6 - digits.count) + digits
        }
    }

    /// The tokens that a verified e-mail's code may have been exchanged for; the first one is issued now. Repeated calls return the same
    /// tokens, although only the hash of one is stored.
    func enrolmentTokens(of verification: EmailVerification) -> [OpaqueToken] {
        tokenKeys.hashes(of: "enrolment:\(verification.id.wireString)")
            .map { OpaqueToken(text: OpaqueToken.enrolmentPrefix + Base64URL.encode($0)) }
    }

    /// The lookups by which the account of an identity provider's user is found, one for each key.
    func subjectLookups(_ subject: String, of issuer: String) -> [[UInt8]] {
        FederatedSubject(subject, of: issuer).lookups(under: lookupKeys)
    }

    /// Seals an identity provider's id of a person, so that a rotation can compute its lookups under the new key.
    func sealedSubject(_ subject: String, of userID: UUID) throws(CryptoError) -> [UInt8] {
        try sealed(subject, context: SealingContext.subject(userID: userID))
    }

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

    /// Seals a text of a notification, which notifier opens.
    func sealedForPush(_ text: String, _ use: SealedText.Use, of notificationID: UUID) throws(CryptoError) -> SealedText {
        try SealedText(sealing: text, use, of: notificationID, with: tokenSealer)
    }

    /// Seals a text of a notification that may be absent.
    func sealedForPush(_ text: String?, _ use: SealedText.Use, of notificationID: UUID) throws(CryptoError) -> SealedText? {
        guard let text else { return nil }
        return try SealedText(sealing: text, use, of: notificationID, with: tokenSealer)
    }

    /// Turns a push token that a device just sent into the registration of its installation.
    func registration(of target: PushTarget, seenAt: Date) throws(CryptoError) -> PushRegistration {
        let key = target.installationKey
        let sealed = try tokenSealer.seal(Array(target.value.utf8), context: PushInstall.sealingContext(installationKey: key))
        return PushRegistration(
            installationKey: key, kind: target.kind, valueSealed: sealed,
            valueHash: target.valueHash, seenAt: seenAt)
    }

    /// The keyed hash by which a client's subscriber address is counted; the address itself is not stored.
    func addressKey(_ address: IPAddress) -> [UInt8] { key(of: address.subscriber) }

    /// The keyed hashes of a client's subscriber address and of its site; failed sign-ins are counted by both.
    func origin(_ address: IPAddress) -> RequestOrigin {
        RequestOrigin(addressKey: addressKey(address), siteKey: key(of: address.site))
    }

    private func key(of block: IPAddress) -> [UInt8] { fingerprints(of: "address:\(block.high):\(block.low)")[0] }

    /// The keyed hashes of a text, one for each key, which identify the text without storing it; the first one is stored.
    func fingerprints(of text: String) -> [[UInt8]] { lookupKeys.hashes(of: text) }
}
