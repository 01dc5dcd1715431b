import Accounts
import Foundation
import HTTPClient
import JSON
import NIOCore
import ServiceDefaults
import Synchronization
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct RateLimiterTests {
    private let start = ContinuousClock.now

    @Test func `a key may use its burst at once, and then regained tokens`() {
        let limiter = RateLimiter<Int>(Rate(perMinute: 30, burst: 3))
        #expect((0..<3).allSatisfy { _ in limiter.take(1, now: start) == nil })
        #expect(limiter.take(1, now: start) == .seconds(2))
        #expect(limiter.take(1, now: start + .seconds(1)) == .seconds(1))
        #expect(limiter.take(1, now: start + .seconds(2)) == nil)
        #expect(limiter.take(1, now: start + .seconds(2)) == .seconds(2))
        #expect(limiter.take(2, now: start) == nil, "another key has a bucket of its own")
    }

    @Test func `a bucket never holds more than its burst`() {
        let limiter = RateLimiter<Int>(Rate(perMinute: 60, burst: 2))
        let later = start + .seconds(86_400)
        #expect(limiter.take(1, now: start) == nil)
        #expect((0..<3).map { _ in limiter.take(1, now: later) } == [nil, nil, .seconds(1)])
    }

    @Test func `a rate of 0 limits nothing`() {
        let limiter = RateLimiter<Int>(Rate(perMinute: 0, burst: 1))
        #expect((0..<1_000).allSatisfy { _ in limiter.take(1, now: start) == nil })
        #expect(limiter.count == 0)
    }

    @Test func `the table is limited to two generations and drops the keys unused for longest`() {
        let limiter = RateLimiter<Int>(Rate(perMinute: 1, burst: 1), generationSize: 100)
        for key in 0..<1_000 {
            #expect(limiter.take(key, now: start) == nil)
            #expect(limiter.count <= 200)
        }
        #expect(limiter.take(999, now: start) != nil)
        #expect(limiter.take(899, now: start) != nil, "the old generation still counts")
        #expect(limiter.take(0, now: start) == nil)
    }
}

@Suite struct ClientAddressTests {
    private func client(
        _ peer: String, _ forwarded: [String], trusting proxies: [String] = [], hops: Int = 0
    ) throws -> ClientAddresses.Result {
        try ClientAddresses(trustedProxies: proxies.map { try #require(AddressBlock($0)) }, trustedHops: hops)
            .client(peer: try #require(IPAddress(peer)), forwardedFor: forwarded)
    }

    @Test(arguments: [
        ("203.0.113.9", ["198.51.100.1"], [], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.1"], ["10.0.0.0/8"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.1"], ["10.0.0.0/8"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1", "198.51.100.1, 10.9.9.9"], ["10.0.0.0/8"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense"], ["10.0.0.0/8"], "10.0.0.1"),
        ("10.0.0.1", [], ["10.0.0.0/8"], "10.0.0.1"), ("10.0.0.1", [""], ["10.0.0.0/8"], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["2001:db8::7"], ["10.0.0.1"], "2001:db8::7"),
        ("2001:db8::1", ["198.51.100.1"], ["2001:db8::/32"], "198.51.100.1"),
        ("2001:db9::1", ["198.51.100.1"], ["2001:db8::/32"], "2001:db9::1"),
        ("11.0.0.1", ["198.51.100.1"], ["10.0.0.0/8"], "11.0.0.1"), ("11.0.0.1", ["2001:db8::7"], ["::/0"], "2001:db8::7"),
    ])
    func `only addresses from trusted proxies are used`(
        peer: String, forwarded: [String], proxies: [String], expected: String
    ) throws {
        #expect(try client(peer, forwarded, trusting: proxies).client == IPAddress(expected))
    }

    @Test(
        arguments: [
            (1, ["1.1.1.1, 198.51.100.1"], "198.51.100.1", nil), (2, ["1.1.1.1, 198.51.100.1", "10.0.0.9"], "198.51.100.1", nil),
            (1, [], "203.0.113.9", .fewerHops), (2, ["198.51.100.1"], "198.51.100.1", .fewerHops),
            (1, ["198.51.100.1, nonsense"], "203.0.113.9", .fewerHops),
        ] as [(Int, [String], String, ClientAddresses.Doubt?)])
    func `with a number of proxies, the address that the farthest of them saw is used`(
        hops: Int, forwarded: [String], expected: String, doubt: ClientAddresses.Doubt?
    ) throws {
        let found = try client("203.0.113.9", forwarded, hops: hops)
        #expect(try found == .init(client: #require(IPAddress(expected)), doubt: doubt))
    }

    @Test(arguments: ["198.51.100.1:5678", " 198.51.100.1 ", "[2001:db8::7]", "[2001:db8::7]:443", "2001:db8::7"])
    func `an address of a proxy may have a port`(text: String) throws {
        let plain = text.contains("198") ? "198.51.100.1" : "2001:db8::7"
        #expect(IPAddress(forwarded: text) == IPAddress(plain))
        #expect(try client("10.0.0.1", [text], trusting: ["10.0.0.1"]).client == IPAddress(plain))
    }

    @Test func `a way that is trusted from end to end, and a header that no setting wants, are doubted`() throws {
        #expect(try client("10.0.0.1", ["10.0.0.2"], trusting: ["10.0.0.0/8"]).doubt == .allTrusted)
        #expect(try client("10.0.0.1", ["198.51.100.1"]).doubt == .headerIgnored)
        #expect(try client("10.0.0.1", []).doubt == nil)
        #expect(try client("198.51.100.1", ["10.0.0.2"], trusting: ["10.0.0.0/8"]).doubt == nil, "a client that sends the header itself")
    }

    @Test func `a subscriber is an IPv4 address or an IPv6 prefix of 64 bits`() throws {
        let first = try #require(IPAddress("2001:db8:1:2::1")), second = try #require(IPAddress("2001:db8:1:2:ffff::9"))
        #expect(first != second && first.subscriber == second.subscriber)
        #expect(first.subscriber != IPAddress("2001:db8:1:3::1")?.subscriber)
        #expect(IPAddress("10.0.0.1")?.subscriber != IPAddress("10.0.0.2")?.subscriber)
        #expect(IPAddress("10.0.0.1") == IPAddress("::ffff:10.0.0.1"))
        for text in ["", "10.0.0", "10.0.0.1:80", "[::1]", "fe80::1%eth0", "localhost", "10.0.0.1\0"] { #expect(IPAddress(text) == nil) }
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "nonsense", "", "::/129"])
    func `an invalid block stops the start`(block: String) throws {
        #expect(AddressBlock(block) == nil)
        #expect(throws: ConfigurationError.self) {
            try LimitsConfiguration(Settings(environment: ["TRUSTED_PROXIES": "10.0.0.1, \(block)x"]))
        }
    }

    @Test func `settings are read, and no proxy is trusted by default`() throws {
        let limits = try LimitsConfiguration(
            Settings(environment: [
                "TRUSTED_PROXIES": "10.0.0.0/8, ::1", "RATE_LIMIT_ADDRESS_PER_MINUTE": "7", "IMAGE_JOBS_OPEN_PER_USER": "0",
            ]))
        #expect(limits.address.perMinute == 7 && limits.imageJobs.open == 0)
        #expect(limits.addresses.trustedProxies == [AddressBlock("10.0.0.0/8"), AddressBlock("::1")])
        let usual = try LimitsConfiguration(Settings(environment: [:])).addresses
        #expect(usual.trustedProxies.isEmpty && usual.trustedHops == 0)
        #expect(try LimitsConfiguration(Settings(environment: ["TRUSTED_PROXY_HOPS": "2"])).addresses.trustedHops == 2)
        #expect(throws: ConfigurationError.self) {
            try LimitsConfiguration(Settings(environment: ["TRUSTED_PROXY_HOPS": "1", "TRUSTED_PROXIES": "10.0.0.1"]))
        }
    }
}

@Suite struct LimitTests {
    @Test(.api { $0.limits.address = Rate(perMinute: 1, burst: 2) })
    func `The refusal of an address over its rate is exact to the byte`() async throws {
        for _ in 0..<2 { #expect(try await api.send("GET", "/nowhere").status == 404) }
        let response = try await api.send("GET", "/nowhere", headers: [("X-Request-ID", "r-1")])
        #expect(response.status == 429)
        let seconds = try #require(Int(response.header("Retry-After") ?? ""))
        #expect((1...60).contains(seconds))
        let timestamp = try #require(response.json.text("meta.timestamp"))
        #expect(
            response.text == #"{"success":false,"code":1201,"message":"Too many requests from this address","error":"#
                + #"{"code":"rate_limited","retryable":true,"retry_after":\#(seconds)},"data":null,"#
                + #""meta":{"requestId":"r-1","timestamp":"\#(timestamp)"}}"#)
    }

    @Test(
        .api {
            $0.limits.address = Rate(perMinute: 1, burst: 1)
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
        })
    func `Behind a trusted proxy each client has a limit of its own`() async throws {
        for (client, status) in [("198.51.100.1", 404), ("198.51.100.2", 404), ("198.51.100.1", 429)] {
            let response = try await api.send("GET", "/nowhere", headers: [("X-Forwarded-For", client)])
            #expect(response.status == status)
        }
    }

    @Test(
        .api {
            $0.limits.address = Rate(perMinute: 1, burst: 1)
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
        })
    func `A /48 of IPv6 has the limit of sixteen addresses`() async throws {
        for number in 1...17 {
            let client = "2001:db8:1:\(String(number << 8, radix: 16))::1"
            let response = try await api.send("GET", "/nowhere", headers: [("X-Forwarded-For", client)])
            #expect(response.status == (number <= 16 ? 404 : 429), "\(client)")
        }
    }

    @Test(.api { $0.limits.address = Rate(perMinute: 1, burst: 1) })
    func `Without a trusted proxy a forwarded address has no limit of its own`() async throws {
        for (client, status) in [("198.51.100.1", 404), ("198.51.100.2", 429)] {
            let response = try await api.send("GET", "/nowhere", headers: [("X-Forwarded-For", client)])
            #expect(response.status == status)
        }
    }

    @Test(.api { $0.limits.account = Rate(perMinute: 1, burst: 2) })
    func `The sign-ins of an account are limited in the same way whether or not it exists`() async throws {
        try await api.signUp("known@example.org")
        for email in ["known@example.org", "nobody@example.org"] {
            for _ in 0..<2 { _ = try await api.start(Path.login, .signIn(email: email)) }
            let files = api.storedFiles().count
            let response = try await api.send(.signIn(email: email.uppercased()), to: Path.login)
            #expect(response.refusal == "429 rate_limited")
            #expect(response.header("Retry-After") != nil)
            #expect(api.storedFiles().count == files)
        }
    }

    @Test(
        .api {
            $0.limits.account = Rate(perMinute: 1, burst: 1)
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
        }, arguments: [Path.signUp, Path.login])
    func `Strangers who name an e-mail do not empty the bucket of another site`(path: String) async throws {
        func start(from address: String, _ number: Int) async throws -> HTTPClientResponse {
            let form: Form = path == Path.signUp ? .signUp(email: "known@example.org") : .signIn(email: "known@example.org")
            let token = Form.pushToken(of: number)
            return try await api.send(form.with("fcm_token", token), to: path, headers: [("X-Forwarded-For", address)])
        }
        #expect(try await start(from: "198.51.100.1", 1).status == 200)
        #expect(try await start(from: "198.51.100.1", 2).refusal == "429 rate_limited")
        #expect(try await start(from: "198.51.100.2", 3).status == 200)
    }

    @Test(.api { $0.limits.account = Rate(perMinute: 1, burst: 2) })
    func `Strangers who use an e-mail do not empty the bucket of its account's bearer`() async throws {
        let device = try await api.signedInDevice()
        let stranger = Form.signUp(email: "known@example.org")
        #expect(try await api.send(stranger, to: Path.signUp).status == 200)
        #expect(try await api.send(stranger.with("fcm_token", Form.pushToken(of: 1)), to: Path.signUp).refusal == "429 rate_limited")
        let bearer = [("Authorization", "Bearer \(device.accessToken)")]
        #expect(try await api.send(.signUp(email: nil), to: Path.signUp, headers: bearer).status == 200)
    }

    /// Takes slots for an address of a network until it gets no more.
    private func fill(_ slots: UploadSlots, from address: String, _ displaced: EventCount = EventCount()) throws -> [UploadSlots.Slot] {
        let address = try #require(IPAddress(address))
        var held: [UploadSlots.Slot] = []
        while let slot = try? slots.take(for: address, size: 1, displace: { displaced.add() }) { held.append(slot) }
        return held
    }

    @Test func `a site gets half of the slots that other sites leave, however many of its networks ask`() throws {
        let slots = UploadSlots(limit: 64, perSite: 50)
        let (first, second) = (try fill(slots, from: "2001:db8:1:1::1"), try fill(slots, from: "2001:db8:1:2::1"))
        #expect(first.count == 32 && second.isEmpty)
        #expect(try fill(slots, from: "198.51.100.1").count == 16)
    }

    @Test func `when all slots are taken, the transfer of another site displaces one of the site with the most`() throws {
        let slots = UploadSlots(limit: 64, perSite: 50)
        let (ofMost, ofOthers) = (EventCount(), EventCount())
        var held = try [fill(slots, from: "198.51.100.1", ofMost)]
        for number in 2...7 { held.append(try fill(slots, from: "198.51.100.\(number)", ofOthers)) }
        #expect(held.map(\.count) == [32, 16, 8, 4, 2, 1, 1])
        let late = try #require(IPAddress("198.51.100.8"))
        let slot = try slots.take(for: late, size: 1) {}
        #expect(ofMost.count == 1 && ofOthers.count == 0)
        withExtendedLifetime((held, slot)) {}
    }

    @Test func `of the site with the most slots the transfer with the fewest bytes is displaced`() async throws {
        let slots = UploadSlots(limit: 4, perSite: 4)
        let displaced = Mutex<[Int]>([])
        var held: [UploadSlots.Slot] = []
        for (number, byteCount) in [500, 20].enumerated() {
            held.append(try slots.take(for: try #require(IPAddress("198.51.100.1")), size: 1) { displaced.withLock { $0.append(number) } })
            try await held[number].inTurn(byteCount: byteCount) {}
        }
        let others = try (2...4).map { try slots.take(for: try #require(IPAddress("198.51.100.\($0)")), size: 1) {} }
        #expect(displaced.withLock { $0 } == [1])
        withExtendedLifetime((held, others)) {}
    }

    @Test func `sites with one slot each are not displaced, and displaced transfers that do not end are limited`() throws {
        let slots = UploadSlots(limit: 16, perSite: 16)
        let displaced = EventCount()
        var held = try fill(slots, from: "198.51.100.1", displaced)
        held += try (2...9).map { try slots.take(for: try #require(IPAddress("198.51.100.\($0)")), size: 1) {} }
        #expect(held.count == 16 && displaced.count == 0)
        let late = try (10...11).map { try slots.take(for: try #require(IPAddress("198.51.100.\($0)")), size: 1) {} }
        #expect(displaced.count == 2)
        let refusal = #expect(throws: APIError.self) { _ = try slots.take(for: try #require(IPAddress("198.51.100.12")), size: 1) {} }
        #expect(refusal?.code == .overloaded)
        withExtendedLifetime((held, late)) {}
    }

    /// The number of bytes of an upload.
    private static func megabytes(_ count: Int) -> Int { count << 20 }

    /// Takes all slots for uploads of as many sites as there are sizes, of which `received` bytes each have come.
    private func fill(
        _ slots: UploadSlots, _ sizes: [Int], received: [Int] = [], _ displaced: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> [UploadSlots.Slot] {
        var held: [UploadSlots.Slot] = []
        for (number, size) in sizes.enumerated() {
            held.append(try slots.take(for: try #require(IPAddress("198.51.100.\(number)")), size: size) { displaced(size) })
            if number < received.count { try await held[number].inTurn(byteCount: received[number]) {} }
        }
        return held
    }

    @Test func `when each site has one slot, an upload displaces the one that misses the most if that is four times its bytes`()
        async throws
    {
        let slots = UploadSlots(limit: 4, perSite: 4)
        let displaced = Mutex<[Int]>([])
        let received = [0, Self.megabytes(30), 0, Self.megabytes(24)]
        let sizes = [Self.megabytes(9), Self.megabytes(32), Self.megabytes(12), Self.megabytes(30)]
        let held = try await fill(slots, sizes, received: received) { size in displaced.withLock { $0.append(size) } }
        let late = try #require(IPAddress("203.0.113.1"))
        #expect(throws: APIError.self) { try slots.take(for: late, size: Self.megabytes(3) + 1) {} }
        let slot = try slots.take(for: late, size: Self.megabytes(3)) {}
        #expect(displaced.withLock { $0 } == [Self.megabytes(12)])
        withExtendedLifetime((held, slot)) {}
    }

    @Test func `an upload that misses less than four megabytes is not displaced, however few bytes another one announces`() async throws {
        let slots = UploadSlots(limit: 4, perSite: 4)
        let held = try await fill(slots, [4_194_303, 4_194_303, 4_194_303, 4_194_303])
        let late = try #require(IPAddress("203.0.113.1"))
        #expect(throws: APIError.self) { try slots.take(for: late, size: 1) {} }
        withExtendedLifetime(held) {}
    }

    @Test func `responses are not displaced for their size`() async throws {
        let slots = UploadSlots(limit: 4, perSite: 4)
        let held = try await fill(slots, [0, 0, 0, 0])
        let late = try #require(IPAddress("203.0.113.1"))
        #expect(throws: APIError.self) { try slots.take(for: late, size: 0) {} }
        withExtendedLifetime(held) {}
    }

    @Test(
        .api {
            $0.uploads.concurrentUploads = 1
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
            $0.connection.patience = .minutes(5)
        })
    func `A sign-in displaces an upload of another address that has announced much more`() async throws {
        let form = Form.signIn()
        let slow = try RawConnection(port: api.port)
        try await slow.post(Path.login, type: form.contentType, length: Self.megabytes(5))
        try await slow.send(Array(form.bytes.dropLast(100)))
        try await eventually("the upload is under way") { !api.storedFiles().isEmpty }
        #expect(try await api.send(form, to: Path.login, headers: [("X-Forwarded-For", "198.51.100.1")]).status == 200)
        #expect(try await slow.receive(until: "1502")?.hasPrefix("HTTP/1.1 503 ") == true)
    }

    @Test(
        .api {
            $0.limits.uploadsPerSite = 1
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
            $0.connection.patience = .minutes(5)
        })
    func `An address does not get all slots of uploads, however slowly it sends`() async throws {
        let form = Form.signIn()
        let slow = try RawConnection(port: api.port)
        try await slow.post(Path.login, type: form.contentType, length: form.bytes.count)
        try await slow.send(Array(form.bytes.dropLast(100)))
        try await eventually("the upload is under way") { !api.storedFiles().isEmpty }
        let refused = try await api.send(form, to: Path.login)
        #expect(refused.refusal == "429 rate_limited")
        let other = try await api.send(form, to: Path.login, headers: [("X-Forwarded-For", "198.51.100.1")])
        #expect(other.status == 200)
        try await slow.send(Array(form.bytes.suffix(100)))
        #expect(try await slow.receive(until: "session_id")?.hasPrefix("HTTP/1.1 200 ") == true)
        #expect(try await api.send(form, to: Path.login).status == 200)
    }

    @Test(.api { $0.limits.connectionsPerAddress = 2 }) func `An address does not get all connections, and gets them back`() async throws {
        let request = "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
        let connections = [try RawConnection(port: api.port), try RawConnection(port: api.port)]
        for connection in connections {
            try await connection.send(request)
            #expect(try await connection.receive(until: "\"meta\"") != nil)
        }
        let surplus = try RawConnection(port: api.port)
        try await surplus.send(request)
        #expect(try await surplus.receive(until: "\"meta\"") == "", "closed without a word")
        connections[0].close()
        try await eventually("there is room again") {
            let next = try RawConnection(port: api.port)
            try await next.send(request)
            return try await next.receive(until: "\"meta\"")?.contains("404") == true
        }
    }

    @Test(.api) func `The wait of a client that hangs up is released`() async throws {
        let session = try await api.start()
        let connection = try RawConnection(port: api.port)
        try await connection.send(
            "GET \(Path.session(session.id))?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(session.token)\r\n\r\n")
        try await eventually("it waits") { api.waiters.count == 1 }
        connection.close()
        try await eventually("its place is free") { api.waiters.count == 0 }
    }

    @Test(.api) func `The number of requests that wait for one session is limited`() async throws {
        let session = try await api.start()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<RowWatcher<Session>.Limits(total: 0).perRow {
                group.addTask { try await api.status(session, query: "?wait=60").status }
            }
            try await eventually("they wait") { api.waiters.count == RowWatcher<Session>.Limits(total: 0).perRow }
            let surplus = try await api.status(session, query: "?wait=60")
            #expect(surplus.status == 200 && surplus.json.text("data.state") == "received", "it does not wait")
            try await api.decide(session.id, .failed(.noMatch))
            for try await status in group { #expect(status == 200) }
        }
    }
}
