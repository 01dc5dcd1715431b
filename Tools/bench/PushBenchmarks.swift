import EventBus
import Foundation
import JSON
import PostgresClient
import Push
import TestSupport
import WireFormat

/// Measures pushes through the real token-registry and notifier against the emulator of FCM: a fan-out to 100,000, the latency of
/// urgent pushes during it, and the gain by a second notifier.
func benchmarkPush() async throws -> [Figure] {
    let stack = try await PushStack.start()
    let tokens = try await stack.populate(topic: "event:bench", count: fanOutSize)
    _ = try await stack.populate(topic: "event:few", count: fewerTargets)
    let witnesses = try await Witnesses.make(stack)
    let registry = try stack.launch("token-registry")
    let notifier = try stack.launch("notifier")
    var figures = try await fanOutFigures(stack, notifier, witnesses, token: tokens[0])
    await notifier.stop()
    figures += try await peerFigure(stack, tokens, ours: figures.first { $0.name == "push_fan_out" }?.value ?? 0)
    figures += try await replicaFigures(stack)
    await registry.stop()
    await stack.stop()
    return figures
}

let fanOutSize = 100_000
/// The number of fan-outs without, and then with urgent pushes at the same time.
private let (fanOutRuns, sharedRuns) = (3, 5)
private let fewerTargets = 12_000
private let peerCount = 2000
/// The number of urgent pushes measured on the idle system before each fan-out with urgent pushes, about as many as beside it: of fewer,
/// the 99th percentile would be nearer to the highest.
private let idleSamples = 320
private let witnessCount = 5000
private let executables: Set = ["fcm-emulator", "notifier", "postgres", "redis-server", "token-registry"]
private let roundTripMilliseconds = 150

// MARK: Fan-outs and urgent pushes

private func fanOutFigures(
    _ stack: PushStack, _ notifier: GuardedProcess, _ witnesses: Witnesses, token: String
) async throws -> [Figure] {
    // The first pushes open connections and fill caches.
    for _ in 0..<20 { _ = try await witnesses.pushTime() }

    // Fan-outs and references alternate, because the speed of the machine varies.
    var (runs, bounds, shares): ([FanOutRun], [Double], [String: [Double]]) = ([], [], [:])
    for _ in 0..<fanOutRuns {
        bounds.append(try await generatorRate(stack, token: token))
        let timeBefore = ProcessTime(of: executables)
        runs.append(try await fanOut(stack))
        let time = ProcessTime(of: executables)
        for name in executables {
            shares[name, default: []].append(time.microseconds(of: name, since: timeBefore, by: fanOutSize))
        }
    }
    // Bulk pushes are paced from an urgent push on, for `BulkPace.urgentMemory`.
    var (shared, idle, busy): ([FanOutRun], [Latencies], [Latencies]) = ([], [], [])
    for _ in 0..<sharedRuns {
        // The writes of the last fan-out would slow the idle pushes.
        try await Task.sleep(for: .seconds(2))
        var times: [Double] = []
        for _ in 0..<idleSamples { times.append(try await witnesses.pushTime()) }
        idle.append(Latencies(times))
        times = []
        shared.append(try await fanOut(stack) { times.append(try await witnesses.pushTime()) })
        busy.append(Latencies(times))
    }
    let memory = peakMemoryMebibytes(of: notifier.pid)
    let rates = runs.map { Double(fanOutSize) / $0.seconds }
    let sharedSeconds = shared.map(\.seconds).reduce(0, +) / Double(sharedRuns)
    return [
        Figure(
            "push_fan_out", rates.median, unit: "pushes/s from the request to the last of \(fanOutSize), median of \(fanOutRuns)",
            reference: "h2load on the same emulator just before", referenceValue: bounds.median,
            ratios: zip(rates, bounds).map { $0 / $1 }, bar: 0.3),
        Figure("push_fan_out_seconds", runs.map(\.seconds).median, unit: "s", moreIsBetter: false),
        Figure(
            "push_fan_out_beside_urgent", Double(fanOutSize) / sharedSeconds, unit: "pushes/s while urgent ones are sent",
            reference: "what a notifier may send of the quota that FCM grants at first, or half of the rate without urgent pushes",
            referenceValue: min(8000, rates.median / 2), bar: 1),
        Figure(
            "push_repeated", Double((runs + shared).map(\.repeated).reduce(0, +)), unit: "devices with more than one push",
            bar: 0,
            moreIsBetter: false),
        Figure("push_notifier_peak_memory", memory, unit: "MiB", bar: 120, moreIsBetter: false),
        Figure(
            "push_urgent_p50", busy.map(\.p50), unit: "ms while \(fanOutSize) others are sent", reference: "idle",
            idle.map(\.p50), bar: nil, moreIsBetter: false),
        Figure(
            "push_urgent_p99", busy.map(\.p99), unit: "ms while \(fanOutSize) others are sent", reference: "idle",
            idle.map(\.p99), bar: 3, moreIsBetter: false),
    ]
        + executables.sorted().map { name in
            Figure("push_cpu_\(name)", shares[name, default: []].median, unit: "µs of a core for each push", moreIsBetter: false)
        }
}

/// Times in milliseconds of the urgent pushes of one alternation.
private struct Latencies {
    let p50, p99: Double

    init(_ times: [Double]) {
        let times = times.sorted()
        (p50, p99) = (times[times.count / 2], times[times.count * 99 / 100])
    }
}

/// The result of a fan-out.
private struct FanOutRun {
    let seconds: Double
    /// The number of devices that were sent more than one push.
    let repeated: Int
}

/// Sends a push to all members of the big topic and waits until all have arrived.
///
/// - Parameter push: Sends an urgent push; repeated until the fan-out has arrived.
private func fanOut(_ stack: PushStack, beside push: (() async throws -> Void)? = nil) async throws -> FanOutRun {
    // Earlier messages are deleted, so that a device with more than one message was pushed to repeatedly.
    _ = try await stack.control("DELETE", "messages")
    let before = try await stack.accepted()
    let start = ContinuousClock.now
    try await request(stack, topic: "event:bench")
    var others = 0
    while try await stack.accepted() - before - others < fanOutSize {
        guard ContinuousClock.now - start < .seconds(300) else { throw DeadlineExceeded(description: "the fan-out does not end") }
        if let push {
            try await push()
            others += 1
        }
        try await Task.sleep(for: .milliseconds(20))
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    guard case .object(let counts) = try await stack.control("GET", "statistics")["registrations_by_messages"] else {
        throw DeadlineExceeded(description: "the emulator has no registrations_by_messages")
    }
    let repeated = counts.filter { (Int($0.key) ?? 0) > 1 }.values.reduce(0) { $0 + ($1.number ?? 0) }
    return FanOutRun(seconds: seconds, repeated: Int(repeated))
}

/// Requests a push to all members of a topic.
func request(_ stack: PushStack, topic: String) async throws {
    let id: UUID = try await stack.postgres.query("SELECT id FROM topics WHERE name = \(topic)")[0].decode("id")
    try await OutboxRepository(stack.postgres).publish(
        NotificationRequested(
            dedupeKey: "bench:\(UUID().uuidString)", content: .sample(.newPhotos, topic: topic, topicID: id), recipient: .topic(topic),
            lane: .bulk, expiresAt: Date(timeIntervalSinceNow: 3600)))
}

/// Users with one phone each, to whom urgent pushes are sent one after the other, one push per user.
private final class Witnesses {
    let stack: PushStack
    private var waiting: [(token: String, userID: UUID)]

    private init(stack: PushStack, waiting: [(token: String, userID: UUID)]) {
        self.stack = stack
        self.waiting = waiting
    }

    static func make(_ stack: PushStack) async throws -> Witnesses {
        Witnesses(stack: stack, waiting: try await stack.populateUsers(witnessCount))
    }

    /// Returns the milliseconds from the publication of an urgent request to its push at the emulator.
    func pushTime() async throws -> Double {
        guard let (token, userID) = waiting.popLast() else {
            throw DeadlineExceeded(description: "there are no witnesses left")
        }
        let content = SignInPush(sessionID: UUIDv7.generate(), userID: userID, succeeded: true).content
        let start = ContinuousClock.now
        try await OutboxRepository(stack.postgres).publish(
            NotificationRequested(
                dedupeKey: "bench:\(UUID().uuidString)", content: content, recipient: .user(userID), lane: .urgent,
                expiresAt: Date(timeIntervalSinceNow: 600)))
        _ = try await stack.control("GET", "messages?token=\(token)&wait=30&count=1")
        return (ContinuousClock.now - start) / .milliseconds(1)
    }
}

// MARK: References

/// Measures the requests per second of h2load on the same emulator with a body of the same size.
func generatorRate(_ stack: PushStack, token: String, count: Int = fanOutSize) async throws -> Double {
    let session = UUID().wireString
    let body = #"""
        {"message":{"android":{"notification":{"channel_id":"event_photos","tag":"event:bench"},"priority":"HIGH",\#
        "ttl":"3600s"},"apns":{"headers":{"apns-collapse-id":"event:bench","apns-expiration":"1761562800",\#
        "apns-priority":"10","apns-push-type":"alert"},\#
        "payload":{"aps":{"alert":{"body":"New photos added to your event!","title":"PhotoShare"},"badge":7,\#
        "mutable-content":1,"sound":"default"}}},"data":{"action":"new_photos","event_id":"bench"},\#
        "notification":{"body":"New photos added to your event!","title":"PhotoShare"},"token":"\#(token)"}}
        """#
    let file = "\(stack.folder.path)/body-\(session).json"
    try Data(body.utf8).write(to: URL(fileURLWithPath: file))
    let output = try await CommandLineTool.run([
        "h2load", "-n", "\(count)", "-c", "8", "-m", "40", "-d", file, "-H",
        "authorization: Bearer \(try await stack.accessToken())", "-H", "content-type: application/json", stack.sendURL,
    ])
    guard output.contains("\(count) succeeded"),
        let rate = output.split(separator: ",").first(where: { $0.hasSuffix("req/s") })?.split(separator: " ").first,
        let number = Double(rate)
    else { throw DeadlineExceeded(description: "h2load did not succeed: \(output)") }
    return number
}

/// Measures the pushes per second of Google's own Python SDK on the same emulator; no figure when the SDK is not installed.
private func peerFigure(_ stack: PushStack, _ tokens: [String], ours: Double) async throws -> [Figure] {
    let libraries = PackageRoot.path + "/.cache/bench-peers"
    guard FileManager.default.fileExists(atPath: libraries + "/firebase_admin") else { return [] }
    let file = "\(stack.folder.path)/tokens.txt"
    try Data(tokens.suffix(peerCount).joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
    let output = try await CommandLineTool.run(
        ["python3", try PackageRoot.file("Tools/bench/Reference/firebase_peer.py"), file, stack.sendURL],
        environment: [
            "PYTHONPATH": libraries, "PUSH_ACCESS_TOKEN": try await stack.accessToken(),
            "REQUESTS_CA_BUNDLE": stack.folder.path + "/fcm.pem",
        ])
    guard let theirs = Double(output.split(separator: "\n").last ?? "") else {
        throw DeadlineExceeded(description: "firebase-admin printed no number: \(output)")
    }
    return [
        Figure(
            "push_against_firebase_admin", ours, unit: "pushes/s", reference: "firebase-admin 7 for Python, send_each",
            referenceValue: theirs, bar: 20)
    ]
}

// MARK: Two notifiers

/// Measures one and two notifiers, each with one connection, at a latency of FCM of 150 ms, so that the latency is the limit and
/// not the two cores.
private func replicaFigures(_ stack: PushStack) async throws -> [Figure] {
    let fault = #"{"action":"delay","latency_ms":\#(roundTripMilliseconds),"count":0,"endpoint":"send"}"#
    _ = try await stack.control("POST", "faults", body: fault)
    let one = try await rate(stack, notifiers: 1)
    let two = try await rate(stack, notifiers: 2)
    _ = try await stack.control("DELETE", "faults")
    return [
        Figure(
            "push_two_notifiers", two, unit: "pushes/s, one connection each, \(roundTripMilliseconds) ms away",
            reference: "one notifier", referenceValue: one, bar: 1.6)
    ]
}

private func rate(_ stack: PushStack, notifiers: Int) async throws -> Double {
    let running = try (0..<notifiers).map { _ in try stack.launch("notifier", settings: ["FCM_CONNECTIONS": "1"]) }
    try await Task.sleep(for: .seconds(2))
    // The messages of earlier runs are not needed.
    _ = try await stack.control("DELETE", "messages")
    let before = try await stack.accepted()
    try await request(stack, topic: "event:few")
    // The first quarter is not measured: the notifiers adapt their pace.
    var marks: [ContinuousClock.Instant] = []
    for share in [fewerTargets / 4, fewerTargets] {
        try await eventually(within: .seconds(300), "\(share) pushes have arrived") {
            try await stack.accepted() - before >= share ? () : nil
        }
        marks.append(.now)
    }
    for notifier in running { await notifier.stop() }
    return Double(fewerTargets * 3 / 4) / ((marks[1] - marks[0]) / .seconds(1))
}
