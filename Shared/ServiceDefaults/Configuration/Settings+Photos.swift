extension Settings {
    /// Reads `TOPIC_PHOTO_LIFETIME_DAYS`, the lifetime of photos of topics. The service that writes their expiry and the one that
    /// deletes them read the same setting, and pass the same default.
    public func photoLifetime(default usual: Duration) throws(ConfigurationError) -> Duration {
        let day = 24 * 60 * 60
        let days = Int(usual.components.seconds) / day
        let about = "how many days photos of topics are kept; the same for identity-api and image-worker"
        return .seconds(try int("TOPIC_PHOTO_LIFETIME_DAYS", default: days, in: 1...365, about: about) * day)
    }

    /// Reads `IMAGE_SANDBOX`, the sandbox in which pictures are decoded.
    ///
    /// - Parameters:
    ///   - deployed: The value when it is not set.
    ///   - local: The value on a developer's machine when it is not set.
    public func imageSandbox<Mode: RawRepresentable<String> & CaseIterable>(
        deployed: Mode, local: Mode
    ) throws(ConfigurationError) -> Mode {
        let isLocal = try value("ENVIRONMENT", "an environment") == DeploymentEnvironment.local.rawValue
        return try choice(
            "IMAGE_SANDBOX", default: isLocal ? local : deployed,
            about: """
                the sandbox (seccomp) of the processes that decode pictures: `required` refuses to start without it, `available` uses it \
                where the kernel has it, which is the default with `ENVIRONMENT=local`
                """)
    }
}

extension ConfigurationError {
    /// Creates the error of a worker that cannot decode pictures as `IMAGE_SANDBOX` asks.
    public static func imageSandbox(_ reason: String) -> ConfigurationError {
        ConfigurationError(
            "IMAGE_SANDBOX", "cannot be satisfied (\(reason))",
            expectation: "available or off where the kernel has no seccomp; image-decoder has to be beside the worker's program")
    }
}
