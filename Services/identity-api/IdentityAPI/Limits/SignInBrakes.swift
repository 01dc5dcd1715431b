internal import Accounts
internal import FoundationEssentials
internal import Metrics
internal import ServiceDefaults

/// Refuses sign-ins of installations that are not known to the account after too many failed ones over all accounts: the lock of an account
/// does not stop an attacker who tries one face on many accounts.
///
/// The failures are counted in Postgres, so that the limits hold for all instances together; a sign-in whose failures cannot be counted is
/// refused. The count does not depend on the account, so known and unknown e-mails do not differ. The total limit first demands more proof:
/// a challenge, because an attacker has no photos that answer it; then a proof of the e-mail, which passes all brakes.
struct SignInBrakes: Sendable {
    let limits: FailedSignInLimits

    /// Refuses another sign-in without a proof of the e-mail.
    ///
    /// - Parameter hasChallenge: Whether its photos answer a challenge.
    /// - Throws: `rate_limited` for an address or an installation; when all sign-ins together have failed too often `challenge_required`,
    ///   and for one with a challenge, after some times as many failures, `overloaded`.
    func check(_ load: FailedSignInLoad, hasChallenge: Bool, now: Date = Date()) throws(APIError) {
        if let end = load.installationUntil {
            throw Self.refusal(.rateLimited, "installation", "Too many failed sign-ins of this device", end, now)
        }
        if let end = load.addressUntil {
            throw Self.refusal(.rateLimited, "address", "Too many failed sign-ins from this address", end, now)
        }
        let proof = "or prove the e-mail address (POST /v1/auth/register), and send the enrolment token with the sign-in"
        if let end = load.challengedTotalUntil {
            throw Self.refusal(
                .overloaded, "challenged_total", "Too many sign-ins of new devices fail: try again later, \(proof)", end, now)
        }
        if load.totalUntil != nil, !hasChallenge {
            Self.count("total")
            throw APIError(
                .challengeRequired, "Too many sign-ins of new devices fail: answer a challenge, \(proof)", field: ChallengeGate.field)
        }
    }

    private static func count(_ limit: String) { Counter(label: "sign_in_brakes_total", dimensions: [("limit", limit)]).increment() }

    private static func refusal(_ code: ErrorCode, _ limit: String, _ message: String, _ end: Date, _ now: Date) -> APIError {
        count(limit)
        return APIError(code, message, retryAfter: max(1, Int(end.timeIntervalSince(now).rounded(.up))))
    }
}

extension FailedSignInLimits {
    /// No limits at all.
    static var none: FailedSignInLimits {
        var limits = FailedSignInLimits()
        (limits.perAddress, limits.perInstallation, limits.total) = (0, 0, 0)
        return limits
    }

    /// Reads the settings `SIGN_IN_FAILURES_…`.
    init(_ settings: Settings) throws(ConfigurationError) {
        self.init()
        let range = 0...100_000
        let then = "over all accounts and instances, from devices that are not known to the account, then 429; 0 is no limit"
        perAddress = try settings.int(
            "SIGN_IN_FAILURES_PER_ADDRESS", default: perAddress, in: range,
            about: "failed sign-ins of one address (IPv6: /64) in an hour, \(then)")
        perInstallation = try settings.int(
            "SIGN_IN_FAILURES_PER_INSTALLATION", default: perInstallation, in: range,
            about: "failed sign-ins of one device in an hour, \(then)")
        total = try settings.int(
            "SIGN_IN_FAILURES_TOTAL", default: total, in: range,
            about: """
                sign-ins in an hour whose face was not that of the account, over all accounts and instances, at most 20 of one address; \
                then devices that are not known to their account have to answer a challenge, and after three times as many to prove the \
                e-mail; 0 is no limit. Allow ten times what fails on a busy day
                """)
    }
}
