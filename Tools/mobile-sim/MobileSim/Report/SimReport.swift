internal import Foundation

/// The results of a run.
struct SimReport: Codable, Sendable {
    /// A number with a name.
    struct Count: Codable, Sendable, Equatable {
        let name: String
        let count: Int
    }

    struct Results: Codable, Sendable {
        let trigger: Measurements.Trigger
        let seconds: Samples.Summary
    }

    struct Sessions: Codable, Sendable {
        let kind: String
        let seconds: Samples.Summary
    }

    /// A minute of the run.
    struct Minute: Codable, Sendable, Equatable {
        let minute: Int
        let orders: Int
        let ends: Int
    }

    var version = 1
    var date: Date
    let scenario: Scenario
    /// The phones of each kind.
    let kinds: [Count]
    let seconds: Double
    let launches: Int
    let requests: Int
    let orders: Int
    /// Time from an order to the app knowing of its picture, by what made the app ask.
    let results: [Results]
    /// Time from the photos of a face to the outcome.
    let sessions: [Sessions]
    let orderEnds: [Count]
    let sessionEnds: [Count]
    /// The sessions that answer a challenge, by the poses that were shown and the result of the check for a live person.
    let challenges: [Count]
    /// How many terminal events the apps got for an order, and for a session, in one process; the name is the number of events.
    let eventsPerOrder: [Count]
    let eventsPerSession: [Count]
    let faults: [FaultCount]
    /// Where apps were ended.
    let endings: [Count]
    let calls: [Count]
    let errors: [Count]
    let pushes: [Count]
    let minutes: [Minute]
    let leakedFiles: Int
    let violations: [Violation]

    /// The violations of each rule, including rules without violations.
    var rules: [(rule: Violation.Rule, count: Int)] {
        Violation.Rule.allCases.map { rule in (rule, violations.count { $0.rule == rule }) }
    }

    // MARK: The files

    /// Writes report.json and report.html, and returns the latter.
    func write(to folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try json.write(to: folder.appending(path: "report.json"))
        let page = folder.appending(path: "report.html")
        try Data(ReportPage(self).html.utf8).write(to: page)
        return page
    }

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .iso8601
            return try encoder.encode(self) + Data("\n".utf8)
        }
    }
}

extension SimReport {
    init(_ world: World, phones: [Phone]) {
        let contents = world.measurements.snapshot
        func counts(_ values: [String: Int]) -> [Count] {
            values.map { Count(name: $0.key, count: $0.value) }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        }
        func events(_ values: [Int: Int]) -> [Count] {
            values.sorted { $0.key < $1.key }.map { Count(name: "\($0.key)", count: $0.value) }
        }
        let last = max(contents.ordersByMinute.keys.max() ?? 0, contents.endsByMinute.keys.max() ?? 0)
        let kinds = Dictionary(grouping: phones, by: \.plan.kind)
        self.init(
            date: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded()), scenario: world.scenario,
            kinds: PhonePlan.Kind.allCases.map { Count(name: $0.rawValue, count: kinds[$0]?.count ?? 0) },
            seconds: world.elapsed.rounded(), launches: contents.launches, requests: contents.requests, orders: contents.orders,
            results: Measurements.Trigger.allCases.map { Results(trigger: $0, seconds: (contents.results[$0] ?? Samples()).summary) },
            sessions: contents.sessions.sorted { $0.key < $1.key }.map { Sessions(kind: $0.key, seconds: $0.value.summary) },
            orderEnds: counts(contents.orderEnds), sessionEnds: counts(contents.sessionEnds),
            challenges: counts(contents.challenges),
            eventsPerOrder: events(contents.eventsPerOrder), eventsPerSession: events(contents.eventsPerSession),
            faults: FaultCount.Kind.allCases.map { FaultCount(kind: $0, count: contents.faults[$0] ?? 0) },
            endings: counts(contents.places), calls: counts(contents.calls), errors: counts(contents.errors),
            pushes: counts(contents.pushes),
            minutes: (0...last).map {
                Minute(minute: $0, orders: contents.ordersByMinute[$0] ?? 0, ends: contents.endsByMinute[$0] ?? 0)
            }, leakedFiles: contents.leakedFiles, violations: world.violations)
    }

    /// The report as text.
    func lines(_ console: SimConsole) -> [String] {
        func row(_ name: String, _ text: String) -> String {
            "  " + name + String(repeating: " ", count: max(1, 58 - name.count)) + text
        }
        func time(_ seconds: Double?) -> String { seconds.map { $0 < 10 ? "\(($0 * 100).rounded() / 100) s" : "\(Int($0)) s" } ?? "–" }
        var lines = [
            console.bold("\(scenario.phones) phones, \(SimConsole.clock(scenario.duration)) minutes, seed \(scenario.seed)"),
            row("phones by sign-in", kinds.map { "\($0.name) \($0.count)" }.joined(separator: ", ")),
            row("starts of apps, requests", "\(launches), \(requests)"), row("orders", "\(orders)"), console.bold("time to the result"),
        ]
        for result in results {
            let seconds = result.seconds
            lines.append(
                row(
                    "by \(result.trigger.rawValue)",
                    "\(seconds.count): p50 \(time(seconds.p50)), p90 \(time(seconds.p90)), p99 \(time(seconds.p99))"))
        }
        lines.append(console.bold("ends"))
        lines += (orderEnds.map { row("order \($0.name)", "\($0.count)") } + sessionEnds.map { row($0.name, "\($0.count)") })
        lines += challenges.map { row($0.name, "\($0.count)") }
        lines += eventsPerOrder.map { row("orders with \($0.name) terminal events in a process", "\($0.count)") }
        lines += eventsPerSession.map { row("sessions with \($0.name) terminal events in a process", "\($0.count)") }
        lines.append(console.bold("went wrong on the phones' side"))
        lines += faults.map { row($0.kind.rawValue, "\($0.count)") }
        lines.append(console.bold("must hold"))
        lines += rules.map { rule, count in
            row(rule.rawValue, count == 0 ? console.green("holds") : console.red("\(count) violations"))
        }
        return lines
    }
}
