import Storage

extension Settings {
    /// Reads `TOPIC_PHOTO_LIFETIME_DAYS`, the lifetime of photos of topics. The service that writes their expiry and the one that
    /// deletes them read the same setting.
    public func photoLifetime() throws(ConfigurationError) -> Duration {
        let day = 24 * 60 * 60
        let usual = Int(NewTopicPhoto.defaultLifetime.components.seconds) / day
        let about = "how many days photos of topics are kept; the same for identity-api and image-worker"
        return .seconds(try int("TOPIC_PHOTO_LIFETIME_DAYS", default: usual, in: 1...365, about: about) * day)
    }
}
