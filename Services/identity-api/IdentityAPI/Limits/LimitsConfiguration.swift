internal import Accounts
internal import ServiceDefaults
internal import Topics

/// The limits of one client.
///
/// The defaults are generous, because one address may serve a whole mobile network or a test bench. The machine's own address is not
/// exempt.
struct LimitsConfiguration: Sendable {
    /// Requests of one address.
    var address = Rate(perMinute: 6_000, burst: 1_000)
    /// Sign-ups, and counted apart sign-ins, of one account, whether it exists or not.
    var account = Rate(perMinute: 10, burst: 100)
    /// Mails with codes that one address asks for and, counted separately, codes that it enters; see ``PrefixRateLimiter``.
    var verifications = Rate(perMinute: 20, burst: 60)
    /// Mails with codes in a minute, over all addresses and instances; 0 is no limit.
    var codeMails = 240
    /// Wrong codes over all addresses, over all instances.
    var wrongCodes = WrongCodeLimits()
    /// Challenges that one address asks for.
    var challenges = Rate(perMinute: 120, burst: 240)
    /// Undecided sessions, over all instances.
    var undecidedSessions = SessionAdmission.Limits()
    /// Failed sign-ins over all accounts, over all instances.
    var failedSignIns = FailedSignInLimits()
    /// Image orders of one account.
    var orders = Rate(perMinute: 60, burst: 200)
    /// Image jobs of one account, over all instances.
    var imageJobs = ImageJobAdmission()
    /// Photos that one account adds to topics.
    var photos = Rate(perMinute: 60, burst: 200)
    /// Photos, and their bytes, that one account may add to topics in a day, over all instances.
    var photoQuota = TopicPhotoQuota()
    /// Changes that one account makes to the members of topics.
    var topics = Rate(perMinute: 600, burst: 100)
    /// Invitations to topics by one account, and invitations that one user gets pushes for, over all instances.
    var invitations = TopicInvitationQuota()
    /// Registrations of devices by one account.
    var devices = Rate(perMinute: 60, burst: 100)
    /// Messages that one account sends.
    var messages = Rate(perMinute: 120, burst: 300)
    /// Small updates by one account, counted together: presence, read marks, receipts, and display names.
    var signals = Rate(perMinute: 600, burst: 1_000)
    /// Requests with one API key.
    var services = Rate(perMinute: 6_000, burst: 1_000)
    /// Open connections of one address; trusted proxies are not counted.
    var connectionsPerAddress = 1_024
    /// Concurrent uploads of one site (see ``IPAddress/site``); the same number of downloads, and of event streams.
    var uploadsPerSite = 50
    /// The proxies that are trusted to report the client's address.
    var addresses = ClientAddresses()

    init() {}

    /// Reads the settings named below.
    init(_ settings: Settings) throws(ConfigurationError) {
        let blocks = "(IPv6: /64; four times as many by a /56, sixteen times by a /48, and by a /24 of IPv4)"
        address = try settings.rate("RATE_LIMIT_ADDRESS", default: address, of: "requests of one address \(blocks)")
        account = try settings.rate(
            "RATE_LIMIT_ACCOUNT", default: account,
            of: "sign-ups, and sign-ins, of one account, or of one e-mail from one client address (IPv6: /48)")
        verifications = try settings.rate(
            "RATE_LIMIT_VERIFICATIONS", default: verifications,
            of: "mails with codes asked for, and apart from them codes entered, by one address \(blocks)")
        codeMails = try settings.int(
            "CODE_MAILS_PER_MINUTE", default: codeMails, in: 0...1_000_000,
            about: """
                mails with codes in a minute, over all addresses and instances; others wait, and the clients with the fewest mails come \
                first. 0 is no limit. It should be below what the mail server takes
                """)
        wrongCodes = try WrongCodeLimits(settings)
        challenges = try settings.rate(
            "RATE_LIMIT_CHALLENGES", default: challenges, of: "challenges for photos asked for by one address \(blocks)")
        undecidedSessions = try SessionAdmission.Limits(settings)
        failedSignIns = try FailedSignInLimits(settings)
        orders = try settings.rate("RATE_LIMIT_ORDERS", default: orders, of: "orders of pictures by one account")
        imageJobs = try ImageJobAdmission(settings)
        photos = try settings.rate("RATE_LIMIT_PHOTOS", default: photos, of: "photos that one account adds to topics")
        topics = try settings.rate("RATE_LIMIT_TOPICS", default: topics, of: "changes of members by one account")
        devices = try settings.rate("RATE_LIMIT_DEVICES", default: devices, of: "registrations of push tokens by one account")
        messages = try settings.rate("RATE_LIMIT_MESSAGES", default: messages, of: "chat messages of one account")
        signals = try settings.rate(
            "RATE_LIMIT_SIGNALS", default: signals, of: "small updates by one account (read, shown, receipts, its name)")
        services = try settings.rate("RATE_LIMIT_SERVICES", default: services, of: "requests with one API key")
        photoQuota.photosPerDay = try settings.int(
            "TOPIC_PHOTOS_PER_DAY", default: photoQuota.photosPerDay, in: 1...1_000_000,
            about: "photos that one account adds to topics in 24 hours, over all instances, then 429")
        photoQuota.bytesPerDay =
            try settings.int(
                "TOPIC_PHOTO_MIB_PER_DAY", default: photoQuota.bytesPerDay >> 20, in: 1...1_000_000, about: "MiB of those photos") << 20
        invitations.madePerDay = try settings.int(
            "TOPIC_INVITATIONS_PER_DAY", default: invitations.madePerDay, in: 1...1_000_000,
            about: "invitations that one account makes in 24 hours, over all instances, then 429; ended ones count")
        invitations.openPerUser = try settings.int(
            "TOPIC_INVITATIONS_OPEN_PER_USER", default: invitations.openPerUser, in: 0...1_000_000,
            about: "open invitations of which one user gets a push, over all instances; further ones are made without a push")
        invitations.pushedPerDay = try settings.int(
            "TOPIC_INVITATION_PUSHES_PER_DAY", default: invitations.pushedPerDay, in: 0...1_000_000,
            about: "the same in 24 hours")
        connectionsPerAddress = try settings.int(
            "HTTP_CONNECTIONS_PER_ADDRESS", default: connectionsPerAddress, in: 1...1_000_000,
            about: "connections of one address at once (of 4,096); trusted proxies are not counted")
        uploadsPerSite = try settings.int(
            "UPLOAD_CONCURRENCY_PER_ADDRESS", default: uploadsPerSite, in: 1...1_024,
            about: """
                uploads of one address (IPv6: /48) at once, then 429: at most this number, and half of those that other addresses leave. \
                When all are taken, one of the address with the most makes room for an address with fewer, or else the upload \
                that misses the most bytes for one of at most a quarter of them
                """)
        addresses.trustedHops = try settings.int(
            "TRUSTED_PROXY_HOPS", default: 0, in: 0...ClientAddresses.maxHops,
            about: """
                the number of proxies between clients and identity-api. Each appends the address it sees to `X-Forwarded-For`; no other \
                way may lead to `HTTP_PORT`. With 0 only `TRUSTED_PROXIES` are believed; without them all clients of a load balancer \
                share the limits of one address
                """)
        let about = "the addresses of proxies whose `X-Forwarded-For` is believed, in place of their number"
        let expectation = "addresses or blocks such as 10.1.2.3 or 10.1.2.0/28, separated by commas"
        guard let text = try settings.optionalString("TRUSTED_PROXIES", expectation, about: about) else { return }
        guard addresses.trustedHops == 0 else {
            throw ConfigurationError("TRUSTED_PROXIES", "is set beside TRUSTED_PROXY_HOPS", expectation: "one of both")
        }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let block = AddressBlock(part.drop { $0 == " " }.prefix { $0 != " " }) else {
                throw ConfigurationError("TRUSTED_PROXIES", "is not valid", expectation: expectation)
            }
            addresses.trustedProxies.append(block)
        }
    }
}

extension Settings {
    /// Reads a rate from `…_PER_MINUTE` and `…_BURST`.
    fileprivate func rate(_ name: String, default rate: Rate, of what: String) throws(ConfigurationError) -> Rate {
        Rate(
            perMinute: try int(
                "\(name)_PER_MINUTE", default: rate.perMinute, in: 0...1_000_000,
                about: "\(what) that each instance takes in a minute, then 429; 0 is no limit"),
            burst: try int("\(name)_BURST", default: rate.burst, in: 1...1_000_000, about: "the same at once"))
    }
}
