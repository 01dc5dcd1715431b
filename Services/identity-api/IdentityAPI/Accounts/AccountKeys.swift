internal import FoundationEssentials
internal import HeliographCrypto
internal import Storage

/// Derives from people's data what may be stored: keyed hashes to look things up by, sealed values to read again.
struct AccountKeys: Sendable {
    private let lookupKey: [UInt8]
    private let sealer: Sealer

    init(lookupKey: [UInt8], sealer: Sealer) {
        self.lookupKey = lookupKey
        self.sealer = sealer
    }

    /// What the account of an e-mail is found by.
    func emailLookup(_ email: EmailAddress) -> [UInt8] { authenticate("email:\(email.normalised)") }

    /// The id of the account an e-mail has or would have.
    ///
    /// One and the same before and after the account exists: not even somebody who signs in with an unknown e-mail
    /// today and a known one tomorrow learns from the id which it was.
    func userID(_ email: EmailAddress) -> UUID {
        let hash = authenticate("user_id:\(email.normalised)")
        // Dressed as a random UUID (version 4), because that is what every other id looks like.
        return UUID(
            uuid: (
                hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6] & 0x0F | 0x40, hash[7],
                hash[8] & 0x3F | 0x80, hash[9], hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
            ))
    }

    func sealed(_ email: EmailAddress, lookup: [UInt8]) throws(CryptoError) -> [UInt8] {
        try sealer.seal(Array(email.normalised.utf8), context: SealingContext.email(lookup: lookup))
    }

    func installationKey(_ target: PushTarget) -> [UInt8] {
        HMACSHA256.authenticate(target.installationKeyMessage, key: lookupKey)
    }

    func sealed(_ target: PushTarget, for sessionID: UUID) throws(CryptoError) -> [UInt8] {
        try sealer.seal(Array(target.value.utf8), context: SealingContext.sessionPushToken(sessionID: sessionID))
    }

    /// Turns a session's push token into the registration of its installation.
    func registration(of session: Session) throws -> PushRegistration? {
        guard let pushTokenSealed = session.pushTokenSealed else { return nil }
        let value = try sealer.open(pushTokenSealed, context: SealingContext.sessionPushToken(sessionID: session.id))
        guard let target = PushTarget(String(decoding: value, as: UTF8.self)) else { return nil }
        return try registration(of: target, seenAt: session.createdAt)
    }

    /// Turns a push token that a device just sent into the registration of its installation.
    func registration(of target: PushTarget, seenAt: Date) throws(CryptoError) -> PushRegistration {
        let key = installationKey(target)
        let sealed = try sealer.seal(Array(target.value.utf8), context: SealingContext.pushInstall(installationKey: key))
        return PushRegistration(
            installationKey: key, kind: target.kind, valueSealed: sealed,
            valueHash: HMACSHA256.authenticate(target.valueHashMessage, key: lookupKey), seenAt: seenAt)
    }

    private func authenticate(_ text: String) -> [UInt8] { HMACSHA256.authenticate(Array(text.utf8), key: lookupKey) }
}
