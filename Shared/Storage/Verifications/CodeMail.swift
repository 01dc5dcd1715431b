public import FoundationEssentials
internal import PostgresClient

/// When an address gets mails with codes, and whose codes are in one.
///
/// A stranger may ask for codes of any address, as often as they like. So an address has a slot for its next mail, which all its open
/// requests share, in place of a number of mails that strangers could use up.
public enum CodeMailRules {
    /// The shortest time from the last mail of an address that one site caused to the next one, by their number in 24 hours: `wait` after
    /// up to `mails`.
    ///
    /// Ten mails come within 63 minutes, and 45 more in the rest of the day: 55, however many requests the site sends. The first waits
    /// leave a mail a quarter of the minute in which a person expects it.
    public static let ladderOfSite: [(mails: Int, wait: Duration)] = [
        (3, .seconds(45)), (6, .seconds(5 * 60)), (9, .seconds(15 * 60)), (.max, .seconds(30 * 60)),
    ]
    /// The same from the last mail of an address, whoever caused it.
    ///
    /// A stranger at one site delays the mail of another site by 45 seconds; ten sites do no more for 45 minutes. An address has 134 mails
    /// a day at most, of which a stranger has to have 20 sites to cause 60 in the first hour.
    public static let ladderOfAll: [(mails: Int, wait: Duration)] = [
        (60, .seconds(45)), (80, .seconds(5 * 60)), (100, .seconds(15 * 60)), (.max, .seconds(30 * 60)),
    ]
    /// The requests whose codes are in one mail: a longer list would not be read.
    public static let maxRequests = 8
    /// The places of a mail that proven requests have before others: a bearer of any account may ask for codes of any address.
    public static let provenPlaces = 4
    /// The attempts to enter a code where more than ``fewRequests`` share a mail: strangers make such requests, and each of them would
    /// guess. The requests of bearers have ``EmailVerificationRepository/maxAttempts`` always; whether an address has proven something
    /// must not show in the attempts.
    public static let sharedAttempts = 2
    /// The requests without a bearer in one mail whose codes all have ``EmailVerificationRepository/maxAttempts``.
    public static let fewRequests = 2
    /// The time in which a site's mails count for its turn: ten minutes.
    public static let turnWindow: Duration = .seconds(10 * 60)
    /// The mails of a site in that time below which a proven one passes those that wait.
    public static let maxPassing = 3
    /// The mails of a site that wait for their turn, though they are due, before it asks for no more: all that wait are compared each
    /// second.
    public static let maxWaitingOfSite = 20
    /// The time in which all mails are counted: ten seconds, the longest wait of a mail that comes first.
    public static let totalWindow: Duration = .seconds(10)

    /// Returns the mails that the total admits in ``totalWindow``; nil for no limit.
    static func room(perMinute: Int) -> Int? {
        perMinute > 0 ? max(1, perMinute * Int(totalWindow / .seconds(1)) / 60) : nil
    }
}

/// A place in the next mail of an address: a row of `code_mails`.
public struct CodeMail: Sendable, Equatable {
    /// The id.
    public let id: UUID
    /// Whether it may be sent now, as far as its address is concerned.
    public let isDue: Bool

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        isDue = try row.decode("is_due")
    }
}

/// A mail with codes that is going to be sent.
public struct PublishedCodeMail: Sendable, Equatable {
    /// The id.
    public let id: UUID
    /// The request that planned it.
    public let requestID: String?
    /// The trace of that request.
    public let traceparent: String?
}
