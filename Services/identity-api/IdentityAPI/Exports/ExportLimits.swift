internal import ServiceDefaults

/// The limits of exports of accounts.
struct ExportLimits: Sendable {
    /// The number of exports of one account in 24 hours, over all instances; failed ones count.
    var perDay = 5
    /// The maximum number of concurrent exports of this instance; each holds up to one picture of 10 MiB in memory.
    var concurrent = 8
    /// The lease: the time for which an export counts as running after its process died.
    var lease = Duration.seconds(5 * 60)
    /// The interval in which the lease is renewed, and the sign-in of the request is checked again.
    var renewal = Duration.seconds(20)
    /// The maximum duration of an export.
    var maxDuration = Duration.seconds(60 * 60)

    init() {}

    /// Reads the settings.
    init(_ settings: Settings) throws(ConfigurationError) {
        perDay = try settings.int(
            "EXPORTS_PER_DAY", default: perDay, in: 1...1_000,
            about: "exports of one account in 24 hours, over all instances, then 429; those that failed count")
    }
}
