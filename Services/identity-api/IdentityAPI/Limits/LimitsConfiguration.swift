internal import ServiceDefaults

/// How much of the service one client may have.
///
/// The standard values are generous, because behind one address may be a whole mobile network, or a test bench; this
/// machine's own address is no exception to them.
struct LimitsConfiguration: Sendable {
    /// Requests of one address.
    var address = Rate(perMinute: 6_000, burst: 1_000)
    /// Sign-ups, and sign-ins, of one account, whether it exists or not.
    var account = Rate(perMinute: 10, burst: 100)
    /// Orders of pictures of one account.
    var orders = Rate(perMinute: 60, burst: 200)
    /// Image jobs of one account that have not ended, over all instances; 0 is no limit.
    var openImageJobs = 20
    /// Photos that one account adds to topics.
    var photos = Rate(perMinute: 60, burst: 200)
    /// Changes that one account makes to the members of topics.
    var topics = Rate(perMinute: 600, burst: 10_000)
    /// Connections that one address may have at a time; trusted proxies are not counted.
    var connectionsPerAddress = 1_024
    /// Uploads, downloads, and streams of events, that one address may have under way, of each.
    var uploadsPerAddress = 50
    /// Whose word about the client's address is taken.
    var addresses = ClientAddresses()

    init() {}

    /// Reads the settings whose names are below.
    init(_ settings: Settings) throws(ConfigurationError) {
        address.perMinute = try settings.int("RATE_LIMIT_ADDRESS_PER_MINUTE", default: address.perMinute, in: 0...1_000_000)
        address.burst = try settings.int("RATE_LIMIT_ADDRESS_BURST", default: address.burst, in: 1...1_000_000)
        account.perMinute = try settings.int("RATE_LIMIT_ACCOUNT_PER_MINUTE", default: account.perMinute, in: 0...1_000_000)
        account.burst = try settings.int("RATE_LIMIT_ACCOUNT_BURST", default: account.burst, in: 1...1_000_000)
        orders.perMinute = try settings.int("RATE_LIMIT_ORDERS_PER_MINUTE", default: orders.perMinute, in: 0...1_000_000)
        orders.burst = try settings.int("RATE_LIMIT_ORDERS_BURST", default: orders.burst, in: 1...1_000_000)
        openImageJobs = try settings.int("IMAGE_JOBS_OPEN_PER_USER", default: openImageJobs, in: 0...1_000_000)
        photos.perMinute = try settings.int("RATE_LIMIT_PHOTOS_PER_MINUTE", default: photos.perMinute, in: 0...1_000_000)
        photos.burst = try settings.int("RATE_LIMIT_PHOTOS_BURST", default: photos.burst, in: 1...1_000_000)
        topics.perMinute = try settings.int("RATE_LIMIT_TOPICS_PER_MINUTE", default: topics.perMinute, in: 0...1_000_000)
        topics.burst = try settings.int("RATE_LIMIT_TOPICS_BURST", default: topics.burst, in: 1...1_000_000)
        connectionsPerAddress = try settings.int(
            "HTTP_CONNECTIONS_PER_ADDRESS", default: connectionsPerAddress, in: 1...1_000_000)
        uploadsPerAddress = try settings.int("UPLOAD_CONCURRENCY_PER_ADDRESS", default: uploadsPerAddress, in: 1...1_024)
        let expectation = "addresses or blocks such as 10.0.0.0/8, separated by commas"
        guard let text = try settings.optionalString("TRUSTED_PROXIES", expectation) else { return }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let block = AddressBlock(part.drop { $0 == " " }.prefix { $0 != " " }) else {
                throw ConfigurationError("TRUSTED_PROXIES", "is not valid", expectation: expectation)
            }
            addresses.trustedProxies.append(block)
        }
    }
}
