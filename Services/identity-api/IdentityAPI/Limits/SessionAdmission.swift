internal import Metrics
internal import ServiceDefaults
internal import Storage

/// Refuses uploads while too many sessions are undecided, so that the admitted ones are decided before they expire.
///
/// The sessions are counted in Postgres, so that the limits hold for all instances together.
struct SessionAdmission: Sendable {
    /// The maximum numbers of undecided sessions; 0 means no limit.
    struct Limits: Sendable, Equatable {
        /// Sessions of one address (IPv6: /64).
        var perAddress = 50
        /// Sessions of one installation.
        var perInstallation = 5
        /// Sign-ups authorised by one account: they may use the places that new installations may not.
        var perAccount = 3
        /// All sessions. One core of face-matching-worker decides about 130 sign-ups a minute: with two cores, an admitted session is
        /// decided within one or two minutes.
        var total = 300
        /// The total bytes of photos of all sessions.
        var photoBytes = 4_096 << 20

        /// No limits at all.
        static let none = Limits(perAddress: 0, perInstallation: 0, perAccount: 0, total: 0, photoBytes: 0)

        /// The maximum number of sessions of unknown installations: three quarters of ``total``.
        var newTotal: Int { total * 3 / 4 }
    }

    /// The `Retry-After` in seconds: deciding a session takes one or a few.
    private static let retryAfter = 10

    let limits: Limits

    /// Refuses another session.
    ///
    /// - Parameters:
    ///   - isKnown: Whether its installation is known to the account or, for an upload that is not read yet, may be.
    ///   - bytes: The size of its photos.
    /// - Throws: `overloaded`.
    func check(_ undecided: UndecidedSessions, isKnown: Bool = true, adding bytes: Int = 0) throws(APIError) {
        if limits.perAddress > 0, undecided.ofAddress >= limits.perAddress {
            throw Self.refusal("address", "Too many sessions of this address are not decided yet")
        }
        if limits.perInstallation > 0, undecided.ofInstallation >= limits.perInstallation {
            throw Self.refusal("installation", "Too many sessions of this device are not decided yet")
        }
        if limits.perAccount > 0, undecided.ofAccount >= limits.perAccount {
            throw Self.refusal("account", "Too many sessions of this account are not decided yet")
        }
        if limits.total > 0, undecided.total >= (isKnown ? limits.total : limits.newTotal) {
            throw Self.refusal(isKnown ? "total" : "new", "Too many sessions are not decided yet")
        }
        if limits.photoBytes > 0, undecided.photoBytes + bytes > limits.photoBytes {
            throw Self.refusal("bytes", "Too many photos are not examined yet")
        }
    }

    private static func refusal(_ limit: String, _ message: String) -> APIError {
        Counter(label: "ekyc_admission_refusals_total", dimensions: [("limit", limit)]).increment()
        return APIError(.overloaded, message, retryAfter: retryAfter)
    }
}

extension SessionAdmission.Limits {
    /// Reads the settings `EKYC_UNDECIDED_…`.
    init(_ settings: Settings) throws(ConfigurationError) {
        let range = 0...1_000_000
        let then = ", over all instances, then 503; 0 is no limit"
        perAddress = try settings.int(
            "EKYC_UNDECIDED_PER_ADDRESS", default: perAddress, in: range,
            about: "sign-ups and sign-ins of one address (IPv6: /64) that are not decided yet\(then). `heliograph-load` sends from one")
        perInstallation = try settings.int(
            "EKYC_UNDECIDED_PER_INSTALLATION", default: perInstallation, in: range, about: "those of one device\(then)")
        perAccount = try settings.int(
            "EKYC_UNDECIDED_PER_ACCOUNT", default: perAccount, in: range, about: "sign-ups with a bearer of one account\(then)")
        total = try settings.int(
            "EKYC_UNDECIDED_TOTAL", default: total, in: range,
            about: """
                all of them\(then); devices that are not known to the account may take three quarters of it. A core of \
                face-matching-worker decides some 130 sign-ups a minute, and a sign-up that is not decided in 10 expires: allow some 150 \
                for each core
                """)
        photoBytes =
            try settings.int(
                "EKYC_UNDECIDED_MIB", default: photoBytes >> 20, in: range, about: "MiB of photos that are not examined yet\(then)") << 20
    }
}
