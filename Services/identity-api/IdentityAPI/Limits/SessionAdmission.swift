internal import Accounts
internal import Metrics
internal import ServiceDefaults
internal import WireFormat

/// Refuses uploads while too many sessions are undecided, so that the admitted ones are decided before they expire, and keeps the sessions
/// of one address from delaying those of others.
///
/// An address has a few places in the streams, and its site has one for slow sessions; other sessions wait in the table
/// (``SessionRepository/nextTurn(after:)``). An address that has used more than its share of the workers' time is served after the others,
/// and refused after a multiple of the share. Numbers of sessions alone do not bound the work, because the photos of one session may take a
/// hundred times as long as those of another.
///
/// All is counted in Postgres, so that the limits hold for all instances together.
struct SessionAdmission: Sendable {
    /// The maximum numbers of undecided sessions, and times of face engines; 0 means no limit.
    struct Limits: Sendable, Equatable {
        /// Sessions of one address (IPv6: /64).
        var perAddress = 50
        /// The maximum number of them in the streams, not counting sessions of known devices.
        var inFlightPerAddress = 4
        /// The time that new sessions of an address may take in ``SessionRepository/costWindow``: some six sign-ups. After it, further
        /// sessions of the address are served after those of others.
        var firstTimePerAddress = Duration.seconds(2)
        /// The time that sessions of an account may take. After it, further sessions of the account are served like those of its address.
        var firstTimePerAccount = Duration.seconds(2)
        /// The time that sessions of all accounts at one site may take, as a multiple of ``firstTimePerAccount``: some 250 sign-ins. An
        /// attacker can have any number of accounts, each with a known phone.
        static let accountsOfSite = 10
        /// The time after which they are refused.
        var timePerAddress = Duration.seconds(120)
        /// Sessions of one installation.
        var perInstallation = 5
        /// Sign-ups authorised by one account: they may use the places that new installations may not.
        var perAccount = 3
        /// The maximum number of sessions in the streams, and also of sessions that wait for their turn. One core of face-matching-worker
        /// decides about 130 sign-ups a minute: with two cores, an admitted session is decided within one or two minutes.
        var total = 300
        /// The total bytes of photos of all sessions.
        var photoBytes = 4_096 << 20

        /// No limits at all.
        static let none = Limits(
            perAddress: 0, inFlightPerAddress: 0, firstTimePerAddress: .zero, firstTimePerAccount: .zero, timePerAddress: .zero,
            perInstallation: 0, perAccount: 0, total: 0, photoBytes: 0)

        /// The maximum number of sessions of unknown devices: three quarters of ``total``.
        var newTotal: Int { total * 3 / 4 }
        /// The maximum number of sessions in the lane `bulk`, which count in no other total: half of ``total``. Many sites
        /// could otherwise fill the total with sessions that are served last.
        var bulkTotal: Int { (total + 1) / 2 }
        /// The maximum bytes of photos of unknown devices: three quarters of ``photoBytes``.
        var newPhotoBytes: Int { photoBytes / 4 * 3 }
        /// Those of one site: a sixteenth of ``photoBytes``, and at least the photos of one session.
        var photoBytesPerSite: Int { max(photoBytes / 16, min(photoBytes, UploadLimits().bodyBytes)) }
        /// Those of one site in the last quarter of ``newPhotoBytes``: by default 32 MiB, the photos of one phone. Twelve sites with large
        /// photos would otherwise leave nothing. A limit that is small for one session is not divided.
        var photoBytesOfSmallSite: Int { photoBytes / 16 >= UploadLimits().bodyBytes ? photoBytesPerSite / 8 : photoBytesPerSite }
    }

    /// The `Retry-After` in seconds: deciding a session takes one or a few.
    private static let retryAfter = 10
    /// The `Retry-After` for an address that has used up its time. A tenth of the time refills in a minute.
    private static let timeRetryAfter = 60
    /// The time of a photo whose decoding would hold a thread up for others: a JPEG of 16 megapixels takes 105 ms, one of HEIC 350.
    private static let slowPhoto = Duration.milliseconds(150)
    /// The time that a session of ordinary photos takes at most: phones of an office, behind one address, sign in at the same time.
    private static let ordinaryCost = Duration.milliseconds(500)

    let limits: Limits

    /// Refuses another session.
    ///
    /// - Parameters:
    ///   - lane: Its lane or, for an upload that is not read yet, the first one that it may have.
    ///   - bytes: The size of its photos.
    /// - Throws: `overloaded`; `rate_limited` for an address that has used up its time.
    func check(
        _ undecided: UndecidedSessions, _ used: EngineTime, lane: EkycLane = .known, adding bytes: Int = 0
    ) throws(APIError) {
        let isKnown = lane == .known
        if !isKnown, Self.exceeds(used, limits.timePerAddress) {
            Self.count("engine_time")
            throw APIError(
                .rateLimited, "The photos of this address have taken too much time in the last ten minutes", retryAfter: Self.timeRetryAfter
            )
        }
        if limits.perAddress > 0, undecided.ofAddress >= limits.perAddress {
            throw Self.refusal("address", "Too many sessions of this address are not decided yet")
        }
        if limits.perInstallation > 0, undecided.ofInstallation >= limits.perInstallation {
            throw Self.refusal("installation", "Too many sessions of this device are not decided yet")
        }
        if limits.perAccount > 0, undecided.ofAccount >= limits.perAccount {
            throw Self.refusal("account", "Too many sessions of this account are not decided yet")
        }
        // Sessions that wait for their turn keep out only other such sessions: any number of addresses could fill the total with them.
        try checkTotals(undecided, lane)
        try checkBytes(undecided, isKnown: isKnown, adding: bytes)
    }

    private func checkTotals(_ undecided: UndecidedSessions, _ lane: EkycLane) throws(APIError) {
        guard limits.total > 0 else { return }
        let (used, limit, word) =
            switch lane {
            case .known: (undecided.total - undecided.waiting - undecided.bulk, limits.total, "total")
            case .new: (undecided.total - undecided.waiting - undecided.bulk, limits.newTotal, "new")
            case .bulk: (undecided.bulk, limits.bulkTotal, "bulk")
            }
        if used >= limit { throw Self.refusal(word, "Too many sessions are not decided yet") }
        // Strangers at many addresses may fill the total. An address without waiting sessions has a place beyond it.
        let isFull = undecided.waiting >= limits.total * (undecided.waitingOfAddress == 0 ? 2 : 1)
        if awaitsTurn(undecided, lane), isFull {
            throw Self.refusal("waiting", "Too many sessions wait for their turn")
        }
    }

    private func checkBytes(_ undecided: UndecidedSessions, isKnown: Bool, adding bytes: Int) throws(APIError) {
        guard limits.photoBytes > 0 else { return }
        let (all, ofSite) = (undecided.photoBytes + bytes, undecided.photoBytesOfSite + bytes)
        // What one site sends leaves room for the photos of others, and what new installations send for those of known ones.
        let perSite = all > limits.newPhotoBytes / 4 * 3 ? limits.photoBytesOfSmallSite : limits.photoBytesPerSite
        if !isKnown, ofSite > perSite {
            throw Self.refusal("site_bytes", "Too many photos of this address are not examined yet")
        }
        if all > (isKnown ? limits.photoBytes : limits.newPhotoBytes) {
            throw Self.refusal("bytes", "Too many photos are not examined yet")
        }
    }

    /// Returns whether a session of a known device, or with the account's bearer, is still served before others: the account's first
    /// session, and others as long as they use no more than ``Limits/firstTimePerAccount`` together, and those of all accounts at the
    /// site no more than ``Limits/accountsOfSite`` times as much. Those of the site that are not decided yet take no more than the time of
    /// one account, or are one, unless it is the first and ordinary session of its account. The limits are needed because an attacker can
    /// have accounts and known phones, too.
    func goesFirst(_ used: EngineTime, _ undecided: UndecidedSessions = UndecidedSessions(), adding cost: Duration = .zero) -> Bool {
        let limit = limits.firstTimePerAccount
        guard limit > .zero else { return true }
        return (used.ofAccount == .zero || used.ofAccount + cost <= limit) && used.knownOfSite + cost <= limit * Limits.accountsOfSite
            && (undecided.knownCostOfSite == .zero || undecided.knownCostOfSite + cost <= limit
                || used.ofAccount == .zero && cost <= Self.ordinaryCost)
    }

    /// The lane of a session.
    ///
    /// - Parameters:
    ///   - cost: The estimated time of its photos. If they take more than the share of an address, or each of them is slow, they are
    ///     examined after those of others from the first session on.
    ///   - photoCount: The number of its photos.
    func lane(_ used: EngineTime, adding cost: Duration, photoCount: Int, goesFirst: Bool) -> EkycLane {
        if goesFirst { return .known }
        guard limits.firstTimePerAddress > .zero else { return .new }
        let isSlow = cost > limits.firstTimePerAddress || cost > Self.slowPhoto * photoCount
        return isSlow || Self.exceeds(used, limits.firstTimePerAddress) ? .bulk : .new
    }

    /// Whether a session waits until another one of its address has ended or, in the lane `bulk`, another one of its site.
    func awaitsTurn(_ undecided: UndecidedSessions, _ lane: EkycLane) -> Bool {
        guard limits.inFlightPerAddress > 0 else { return false }
        return switch lane {
        case .known: false
        case .new: undecided.inFlightOfAddress >= limits.inFlightPerAddress
        case .bulk: undecided.bulkOfSite >= SessionRepository.bulkPlaces
        }
    }

    private static func exceeds(_ used: EngineTime, _ limit: Duration) -> Bool {
        limit > .zero && (used.ofAddress >= limit || used.ofSite >= limit * RequestOrigin.addressesOfSite)
    }

    private static func refusal(_ limit: String, _ message: String) -> APIError {
        count(limit)
        return APIError(.overloaded, message, retryAfter: retryAfter)
    }

    private static func count(_ limit: String) {
        Counter(label: "ekyc_admission_refusals_total", dimensions: [("limit", limit)]).increment()
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
        inFlightPerAddress = try settings.int(
            "EKYC_IN_FLIGHT_PER_ADDRESS", default: inFlightPerAddress, in: range,
            about: """
                those of them that wait for the workers together with those of other addresses; the next ones take their places, so that \
                many of one address delay only each other. Of those that are examined last, one client address (IPv6: /48) has one. \
                Devices that are known to the account do not count. 0 is no limit
                """)
        firstTimePerAddress = .seconds(
            try settings.int(
                "EKYC_FIRST_SECONDS_PER_ADDRESS", default: 2, in: range,
                about: """
                    seconds of the workers' time that photos of one address (of an IPv6 /48 four times as many) may take in ten minutes; \
                    further ones, and photos that are slow to decode, are examined after those of other addresses. 0 is no limit
                    """))
        firstTimePerAccount = .seconds(
            try settings.int(
                "EKYC_FIRST_SECONDS_PER_ACCOUNT", default: 2, in: range,
                about: """
                    the same of an account, whose known devices go before all others until then, and later count for their address. \
                    0 is no limit
                    """))
        timePerAddress = .seconds(
            try settings.int(
                "EKYC_SECONDS_PER_ADDRESS", default: 120, in: range,
                about: "the same, after which they are refused with 429; devices that are known to the account are not"))
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
                "EKYC_UNDECIDED_MIB", default: photoBytes >> 20, in: range,
                about: """
                    MiB of photos that are not examined yet\(then); devices that are not known to the account may take three quarters of \
                    it, and those of one client address (IPv6: /48) a sixteenth
                    """) << 20
    }
}
