internal import PostgresClient

/// The data of the response to a request for a code: its reference, the time of its mail, and the time until which the code can be entered.
public struct CodeTimes: Sendable, Equatable {
    /// The reference that the app shows, and that stands beside the code in the mail.
    public let reference: String
    /// The longest time until the mail with the next code; zero when no mail is awaited.
    ///
    /// Rounded up, to a minute or to five: it must not disclose when others asked for mails to the address.
    public let nextMail: Duration
    /// The time until the mailed code, or the code in the next mail, ends; zero when no attempt is left.
    public let codeLeft: Duration
    /// The time until another mail can be asked for: with this verification, or, if it has had its last code, with another one.
    public let resend: Duration
    /// Whether the verification has had ``EmailVerificationRepository/maxCodes``.
    public let isLastCode: Bool

    /// Whether a mail is awaited.
    public var waits: Bool { nextMail > .zero }

    init(row: PostgresRow) throws(PostgresError) {
        reference = try row.decode("reference")
        isLastCode = try row.decode("code_number", as: Int32.self) >= EmailVerificationRepository.maxCodes
        guard try row.decode("waits") else {
            nextMail = .zero
            codeLeft = .seconds(max(0, try row.decode("left_seconds", as: Double?.self) ?? 0))
            resend = .seconds(max(0, try row.decode("resend_seconds", as: Double?.self) ?? 0))
            return
        }
        nextMail = Self.rounded(.seconds(try row.decode("mail_seconds", as: Double?.self) ?? 0))
        codeLeft = nextMail + EmailVerificationRepository.codeLifetime
        resend = nextMail + EmailVerificationRepository.codeInterval
    }

    /// A minute, or the next multiple of five minutes.
    static func rounded(_ wait: Duration) -> Duration {
        let (minute, step) = (Duration.seconds(60), Duration.seconds(5 * 60))
        return wait <= minute ? minute : step * Int((wait / step).rounded(.up))
    }
}
