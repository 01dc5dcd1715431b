extension Settings {
    /// Reads `IMAGE_JOBS_IN_FLIGHT_PER_USER`, the jobs of an account that wait for the workers together with those of other accounts. The
    /// service that takes orders and the one that fills free places read the same setting, and pass the same default.
    public func imageJobsInFlight(default usual: Int) throws(ConfigurationError) -> Int {
        try int(
            "IMAGE_JOBS_IN_FLIGHT_PER_USER", default: usual, in: 0...1_000_000,
            about: """
                jobs of one account that wait for the workers together with those of other accounts; the next ones take their places, so \
                that many of one account delay only each other. 0 is no limit; the same for identity-api and image-worker
                """)
    }

    /// Reads `IMAGE_CALLS_PER_DAY_PER_USER`, the calls of a paid generator for an account in a day. The service that refuses orders and the
    /// one that counts the calls read the same setting, and pass the same default.
    public func imageCallsPerUser(default usual: Int) throws(ConfigurationError) -> Int {
        try int(
            "IMAGE_CALLS_PER_DAY_PER_USER", default: usual, in: 0...1_000_000,
            about: """
                calls of a paid generator for one account in a day (UTC), over all instances; then its orders get 429, and its waiting \
                jobs fail. A picture takes one call, and up to three. 0 is no limit; the same for identity-api and image-worker
                """)
    }
}
