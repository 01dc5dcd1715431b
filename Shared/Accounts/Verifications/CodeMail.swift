public import FoundationEssentials
internal import PostgresClient

/// The rules for mails with codes: when an address gets a mail, and which requests have their code in it.
///
/// A stranger may ask for codes of any address, as often as they like. So an address has one next mail, which all its open requests share.
/// A limit on the number of mails could be used up by strangers.
public enum CodeMailRules {
    /// The shortest time from the last mail of an address that one site caused to the next one, by their number in 24 hours: `wait` after
    /// up to `mails`.
    ///
    /// Ten mails come within 63 minutes, and 45 more in the rest of the day: 55, however many requests the site sends. After the first
    /// waits, a mail still has a quarter of the minute in which a person expects it.
    public static let ladderOfSite: [(mails: Int, wait: Duration)] = [
        (3, .seconds(45)), (6, .seconds(5 * 60)), (9, .seconds(15 * 60)), (.max, .seconds(30 * 60)),
    ]
    /// The shortest time from the last mail of an address to the next one, whatever site caused it, for a site that has caused one before.
    ///
    /// A stranger at one site delays the mail of another site by 45 seconds; ten sites do no more for 45 minutes. So an address gets 134
    /// mails a day at most, and one more for each site; a stranger needs eight sites to cause 60 in the first hour.
    public static let ladderOfAll: [(mails: Int, wait: Duration)] = [
        (60, .seconds(45)), (80, .seconds(5 * 60)), (100, .seconds(15 * 60)), (.max, .seconds(30 * 60)),
    ]
    /// The same for a site that has caused none of the address's mails in 24 hours: strangers at two other sites use up ``ladderOfAll`` in
    /// half a day, and an owner's mail must not wait for that. Strangers with hundreds of sites delay it by five minutes.
    public static let ladderOfNewSite: [(mails: Int, wait: Duration)] = [(240, .seconds(45)), (.max, .seconds(5 * 60))]
    /// The maximum number of codes in a mail: people would not read a longer list.
    public static let maxRequests = 8
    /// The places of a mail that proven requests have before others: a bearer of any account may ask for codes of any address.
    public static let provenPlaces = 4
    /// The attempts to enter a code where more than ``fewRequests`` share a mail: strangers make such requests, and could guess a code with
    /// each of them. The requests of bearers always have ``EmailVerificationRepository/maxAttempts``; the number of attempts must not
    /// disclose whether an address has proven something.
    public static let sharedAttempts = 2
    /// The maximum number of requests without a bearer in a mail at which each code has ``EmailVerificationRepository/maxAttempts``.
    public static let fewRequests = 2
    /// The time in which a site's mails count for its turn: ten minutes.
    public static let turnWindow: Duration = .seconds(10 * 60)
    /// The number of mails of a site in ``turnWindow`` up to which a mail with a proven request goes before other waiting mails.
    public static let maxPassing = 3
    /// The maximum number of due mails of a site that wait for their turn; more requests are refused, because all waiting mails are
    /// compared each second.
    public static let maxWaitingOfSite = 20
    /// The window in which all mails are counted: ten seconds, the longest wait of the mail whose turn it is.
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
    /// Whether the limits of its address allow to send it now.
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
