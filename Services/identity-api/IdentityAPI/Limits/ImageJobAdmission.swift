internal import FoundationEssentials
internal import Pictures
internal import ServiceDefaults
internal import WireFormat

/// Refuses orders of an account with too many open jobs or paid calls, and keeps its jobs from delaying those of others.
///
/// An account has a few places in the streams; its other jobs wait in the table (``ImageJobRepository/nextTurn(after:)``). Large jobs, and
/// all jobs of an account that has ordered more than its share, are made on a part of the workers' threads.
struct ImageJobAdmission: Sendable, Equatable {
    /// Jobs that have not ended; 0 is no limit.
    var open = 20
    /// The maximum number of them in the streams; 0 is no limit.
    var inFlight = ImageJobRepository.usualPlaces
    /// The processor time of an account's jobs in ``ImageCostRepository/window`` after which further ones are ``ImageLane/bulk``: some
    /// ten pictures of a phone's screen. A single job of more than a quarter of this time is bulk, too. Zero is no limit.
    var firstTime = Duration.seconds(10)
    /// Calls of paid generators in a day (UTC); 0 is no limit.
    var callsPerDay = ImageCallLimits.usual.perUser

    /// Refuses another order.
    ///
    /// - Parameter seconds: The usual time of a job.
    /// - Throws: `rate_limited`.
    func check(_ load: ImageJobLoad, seconds: Int, now: Date = Date()) throws(APIError) {
        if open > 0, load.open >= open {
            throw .rateLimited("Too many jobs of this account have not ended", wait: .seconds(seconds))
        }
        if callsPerDay > 0, load.callsToday >= callsPerDay {
            let day = 24.0 * 60 * 60
            let left = day - now.timeIntervalSince1970.truncatingRemainder(dividingBy: day)
            throw .rateLimited("This account has had its pictures of today", wait: .seconds(left))
        }
    }

    /// The lane of a job.
    func lane(_ load: ImageJobLoad, adding cost: Duration) -> ImageLane {
        firstTime > .zero && (load.cost + cost > firstTime || cost > firstTime / 4) ? .bulk : .standard
    }

    /// Whether a job waits until another one of its account has ended.
    func awaitsTurn(_ load: ImageJobLoad) -> Bool { inFlight > 0 && load.inFlight >= inFlight }
}

extension ImageJobAdmission {
    /// Reads the settings `IMAGE_…`.
    init(_ settings: Settings) throws(ConfigurationError) {
        open = try settings.int(
            "IMAGE_JOBS_OPEN_PER_USER", default: open, in: 0...1_000_000,
            about: "jobs of one account that wait or are in work, over all instances, then 429; 0 is no limit")
        inFlight = try settings.imageJobsInFlight(default: ImageJobRepository.usualPlaces)
        firstTime = .seconds(
            try settings.int(
                "IMAGE_FIRST_SECONDS_PER_USER", default: 10, in: 0...1_000_000,
                about: """
                    seconds of a worker's core that the pictures of one account may take in ten minutes, by their pixels; further ones, \
                    and single ones of a quarter of it, leave cores to those of other accounts. 0 is no limit
                    """))
        callsPerDay = try settings.imageCallsPerUser(default: ImageCallLimits.usual.perUser)
    }
}
