internal import Accounts
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import ServiceDefaults

/// Refuses codes from sites that have entered many wrong ones or, while too many wrong codes are entered everywhere, some: the limit of
/// attempts for one verification does not stop an attacker who guesses on many addresses.
///
/// An attacker can lock out only neighbours at the own site: a site without wrong codes, and an owner who has proven something before, are
/// not refused.
struct CodeBrake: Sendable {
    let limits: WrongCodeLimits

    /// Refuses a code. Call in the transaction that takes the attempt, before other locks: the codes of the site wait for each other.
    ///
    /// - Throws: `rate_limited`.
    func check(
        _ siteKey: [UInt8], entering verificationID: UUID, in transaction: PostgresTransaction, now: Date = Date()
    ) async throws {
        let codes = WrongCodeRepository(transaction)
        try await codes.lock(siteKey)
        guard let wait = try await codes.wait(of: siteKey, entering: verificationID, limits: limits) else { return }
        Self.count(wait.isOfTotal ? "codes" : "codes_of_site")
        throw APIError.rateLimited(
            "Too many wrong codes are entered: try again later", wait: .seconds(max(1, wait.until.timeIntervalSince(now))))
    }

    /// Counts that a limit holds something back: mails, or the codes of a site.
    static func count(_ limit: String) { Counter(label: "code_brakes_total", dimensions: [("limit", limit)]).increment() }
}

extension WrongCodeLimits {
    /// Reads the setting `WRONG_CODES_TOTAL`.
    init(_ settings: Settings) throws(ConfigurationError) {
        self.init()
        total = try settings.int(
            "WRONG_CODES_TOTAL", default: total, in: 0...100_000,
            about: """
                wrong codes of e-mails in an hour, over all addresses and instances, at most 10 of one client address (IPv6: /48); then \
                clients with two wrong ones get 429, and those with 120 in any case; 0 is no limit. Allow ten times what is mistyped on a \
                busy day
                """)
    }
}
