public import HeliographCrypto

extension Settings {
    /// The sealer of sealed data, from `SEALING_KEYS`.
    public func sealer() throws(ConfigurationError) -> Sealer {
        let expectation = "one or more id:base64-of-32-bytes, separated by commas (`heliographctl keys generate` makes one)"
        let keys = try string(
            "SEALING_KEYS", expectation, about: "the keys of sealed data: the first seals, all open. Rotate by putting a new one in front")
        do { return Sealer(keyRing: try KeyRing(parsing: keys)) } catch {
            throw ConfigurationError("SEALING_KEYS", "is not valid", expectation: expectation)
        }
    }
}
