public import Accounts
public import HeliographCrypto

extension Settings {
    /// The sealer of a purpose, from the ring of keys in its setting, such as `FACE_KEYS`.
    ///
    /// - Throws: ``ConfigurationError``, which names the setting and never its value.
    public func sealer(_ purpose: KeyPurpose) throws(ConfigurationError) -> Sealer {
        Sealer(keyRing: try keyRing(purpose, "The first key seals, all open: rotate by putting a new one in front"))
    }

    /// The keys of the hashes by which e-mails and users of identity providers are found (`LOOKUP_KEYS`).
    public func lookupKeys() throws(ConfigurationError) -> LookupKeys {
        LookupKeys(try keyRing(.lookups, "The first key writes, all find: rotate by putting a new one in front"))
    }

    private func keyRing(_ purpose: KeyPurpose, _ use: String) throws(ConfigurationError) -> KeyRing {
        let expectation =
            "one or more id:base64-of-32-bytes, separated by commas (`heliographctl keys generate` makes one), or aws-kms:base64"
        let keys = try string(purpose.setting, expectation, about: "\(purpose.about). \(use)")
        do { return try KeyRing(parsing: keys) } catch {
            throw ConfigurationError(purpose.setting, "is not valid", expectation: expectation)
        }
    }

    /// The key of the pseudonyms of sessions, of the hashes of their photos and of the ids of challenges (`SESSION_KEY`), 32 bytes.
    public func sessionKey() throws(ConfigurationError) -> [UInt8] {
        try secret(
            "SESSION_KEY", byteCount: 32,
            about: """
                the key of pseudonyms of sessions, of hashes of their photos and of ids of challenges; for identity-api and \
                face-matching-worker. With another one, photos of the last 180 days are accepted once more
                """)
    }
}
