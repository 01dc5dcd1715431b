public import HeliographCrypto
public import Storage

extension Settings {
    /// The sealer of a purpose, from the ring of keys in its setting, such as `FACE_KEYS`.
    ///
    /// - Throws: ``ConfigurationError``, which names the setting and never its value.
    public func sealer(_ purpose: KeyPurpose) throws(ConfigurationError) -> Sealer {
        let expectation =
            "one or more id:base64-of-32-bytes, separated by commas (`heliographctl keys generate` makes one), or aws-kms:base64"
        let keys = try string(
            purpose.setting, expectation, about: "\(purpose.about). The first key seals, all open: rotate by putting a new one in front")
        do { return Sealer(keyRing: try KeyRing(parsing: keys)) } catch {
            throw ConfigurationError(purpose.setting, "is not valid", expectation: expectation)
        }
    }

    /// The key of the HMACs under which e-mails and installations are looked up (`LOOKUP_KEY`), 32 bytes.
    public func lookupKey() throws(ConfigurationError) -> [UInt8] {
        try secret(
            "LOOKUP_KEY", byteCount: 32,
            about: "the key by which e-mails and installations are looked up, and from which tokens derive; for identity-api. Never changes"
        )
    }

    /// The key of the pseudonyms of sessions and of the hashes of their photos (`SESSION_KEY`), 32 bytes.
    public func sessionKey() throws(ConfigurationError) -> [UInt8] {
        try secret(
            "SESSION_KEY", byteCount: 32,
            about: """
                the key of pseudonyms of sessions and of hashes of their photos; for identity-api and face-matching-worker. With another \
                one, photos of the last 180 days are accepted once more
                """)
    }
}
