import JSON

/// The reason for which a body of `POST /control/faults` is refused.
struct FaultRuleError: Error { let message: String }

extension FaultRule {
    private static let members: Set = [
        "action", "status", "code", "reset", "endpoint", "delivered", "retry_after", "retry_after_date_in", "latency_ms",
        "count", "skip", "percent", "every", "token", "platform", "starts_in", "lasts", "step", "to",
    ]

    /// Reads a rule as the control API takes it.
    ///
    /// `action` is `error` (default when `status` or `code` is given), `html`, `hang`, `drop`, `reset`, `goaway`, or `delay`
    /// (default otherwise). `count` 0 means until removed; `starts_in` and `lasts` are seconds. `latency_ms` is a number,
    /// `{"min": …, "max": …}` or `{"p50": …, "p99": …}`. A rule for mails has one of the actions `error`, `hang`, `drop` and `delay`.
    init(json: JSONValue, limits: FCMEmulatorLimits) throws(FaultRuleError) {
        guard let members = json.members else { throw FaultRuleError(message: "the body must be a JSON object") }
        if let stranger = members.first(where: { !Self.members.contains($0.name) }) {
            throw FaultRuleError(message: "unknown member \"\(stranger.name)\"; known are \(Self.members.sorted())")
        }
        let status = json["status"]?.integer
        let hasError = status != nil || json["code"] != nil
        self.init(try Self.effect(json["action"]?.string ?? (hasError ? "error" : "delay"), json, status: status))
        endpoint = try Self.choice("endpoint", json) ?? .send
        platform = try Self.choice("platform", json)
        registration = json["token"]?.string
        step = try Self.choice("step", json) ?? .recipient
        recipient = json["to"]?.string
        if endpoint == .mail, MailFault(effect) == nil, effect != .none {
            throw FaultRuleError(message: "a mail's action must be error, hang, drop or delay")
        }
        isDelivered = json["delivered"]?.boolean ?? false
        retryAfter = json["retry_after"].flatMap { $0.string ?? $0.integer.map(String.init) }
        if let retryAfter, !retryAfter.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            throw FaultRuleError(message: "retry_after must be printable ASCII")
        }
        retryAfterDateSeconds = try Self.number("retry_after_date_in", json, upTo: 86_400)
        latency = try Self.latency(json["latency_ms"], limits)
        let count = try Self.number("count", json, upTo: .max) ?? 1
        self.count = count == 0 ? nil : count
        skip = try Self.number("skip", json, upTo: .max) ?? 0
        every = max(try Self.number("every", json, upTo: .max) ?? 1, 1)
        percent = try Self.decimal("percent", json, upTo: 100) ?? 100
        startsInSeconds = try Self.decimal("starts_in", json, upTo: 86_400) ?? 0
        lastsSeconds = try Self.decimal("lasts", json, upTo: 86_400)
    }

    private static func effect(_ action: String, _ json: JSONValue, status: Int?) throws(FaultRuleError) -> Effect {
        if let status, !(400...599).contains(status), !(action == "html" && status == 200) {
            throw FaultRuleError(message: "status must be 400 to 599, or 200 with html")
        }
        switch action {
        case "delay": return .none
        case "hang": return .hang
        case "drop": return .dropConnection
        case "goaway": return .goAway
        case "reset": return .resetStream(try choice("reset", json) ?? .internalError)
        case "html": return .html(status: status ?? 502)
        case "error":
            if let code: FCMFault = try choice("code", json) { return .error(code, status: status) }
            guard let status, let fault = FCMFault(status: status) else { return .error(.internal, status: status) }
            return .error(fault)
        default: throw FaultRuleError(message: "action must be error, html, hang, drop, reset, goaway or delay")
        }
    }

    private static func latency(_ json: JSONValue?, _ limits: FCMEmulatorLimits) throws(FaultRuleError) -> FaultLatency {
        guard let json else { return .fixed(.zero) }
        let most = limits.delaySeconds * 1000
        if json.members == nil { return .milliseconds(try number("latency_ms", ["latency_ms": json], upTo: most) ?? 0) }
        if let least = try number("min", json, upTo: most), let longest = try number("max", json, upTo: most), least <= longest {
            return .uniform(.milliseconds(least), .milliseconds(longest))
        }
        if let p50 = try number("p50", json, upTo: most), let p99 = try number("p99", json, upTo: most), 0 < p50, p50 <= p99 {
            return .logNormal(p50: .milliseconds(p50), p99: .milliseconds(p99))
        }
        throw FaultRuleError(message: "latency_ms must be a number, {\"min\", \"max\"} or {\"p50\", \"p99\"}")
    }

    private static func choice<Choice>(_ name: String, _ json: JSONValue) throws(FaultRuleError) -> Choice?
    where Choice: RawRepresentable & CaseIterable, Choice.RawValue == String {
        guard let value = json[name] else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            throw FaultRuleError(message: "\(name) must be one of \(Choice.allCases.map(\.rawValue))")
        }
        return choice
    }

    private static func number(_ name: String, _ json: JSONValue, upTo limit: Int) throws(FaultRuleError) -> Int? {
        guard let value = json[name] else { return nil }
        guard let number = value.integer, (0...limit).contains(number) else {
            throw FaultRuleError(message: "\(name) must be a whole number from 0 to \(limit)")
        }
        return number
    }

    private static func decimal(_ name: String, _ json: JSONValue, upTo limit: Double) throws(FaultRuleError) -> Double? {
        guard let value = json[name] else { return nil }
        guard let number = value.double, (0...limit).contains(number) else {
            throw FaultRuleError(message: "\(name) must be a number from 0 to \(limit)")
        }
        return number
    }
}

extension FaultRule {
    private var spelling: (action: String, code: String?, status: Int?) {
        switch effect {
        case .none: ("delay", nil, nil)
        case .error(let fault, let status): ("error", fault.rawValue, status)
        case .html(let status): ("html", nil, status)
        case .hang: ("hang", nil, nil)
        case .dropConnection: ("drop", nil, nil)
        case .resetStream: ("reset", nil, nil)
        case .goAway: ("goaway", nil, nil)
        }
    }

    /// The JSON of the rule that the control API shows.
    func json(id: Int) -> JSONValue {
        var object: JSONValue = [:]
        object["id"] = .integer(id)
        let (action, code, status) = spelling
        object["action"] = .string(action)
        if endpoint != .mail { object["code"] = code.map(JSONValue.string) }
        object["status"] = status.map(JSONValue.integer)
        if case .resetStream(let reset) = effect { object["reset"] = .string(reset.rawValue) }
        object["endpoint"] = .string(endpoint.rawValue)
        if endpoint == .mail { object["step"] = .string(step.rawValue) }
        object["to"] = recipient.map(JSONValue.string)
        object["delivered"] = .bool(isDelivered)
        object["retry_after"] = retryAfter.map(JSONValue.string)
        object["retry_after_date_in"] = retryAfterDateSeconds.map(JSONValue.integer)
        object["latency_ms"] = latency.json
        object["count"] = .integer(count ?? 0)
        object["skip"] = .integer(skip)
        if every > 1 { object["every"] = .integer(every) }
        if percent < 100 { object["percent"] = .number("\(percent)") }
        object["token"] = registration.map(JSONValue.string)
        object["platform"] = platform.map { .string($0.rawValue) }
        if startsInSeconds > 0 { object["starts_in"] = .number("\(startsInSeconds)") }
        object["lasts"] = lastsSeconds.map { .number("\($0)") }
        return object
    }
}

extension FaultLatency {
    fileprivate var json: JSONValue {
        func milliseconds(_ duration: Duration) -> JSONValue { .integer(Int(duration / .milliseconds(1))) }
        return switch self {
        case .fixed(let duration): milliseconds(duration)
        case .uniform(let least, let most): ["min": milliseconds(least), "max": milliseconds(most)]
        case .logNormal(let p50, let p99): ["p50": milliseconds(p50), "p99": milliseconds(p99)]
        }
    }
}
