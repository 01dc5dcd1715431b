/// Why a body of `POST /control/faults` is no rule.
struct FaultRuleError: Error { let message: String }

extension FaultRule {
    private static let members: Set = [
        "action", "status", "code", "endpoint", "delivered", "retry_after", "latency_ms", "count", "skip", "token",
    ]

    /// Reads a rule as the control API takes it.
    ///
    /// `action` is `error` (default when `status` or `code` is given), `html`, `hang`, `drop`, `reset`, or `delay` (default
    /// otherwise). `count` 0 means until removed.
    init(json: JSONValue, limits: FCMEmulatorLimits) throws(FaultRuleError) {
        guard let members = json.members else { throw FaultRuleError(message: "the body must be a JSON object") }
        if let stranger = members.first(where: { !Self.members.contains($0.name) }) {
            throw FaultRuleError(message: "unknown member \"\(stranger.name)\"; known are \(Self.members.sorted())")
        }
        let status = json["status"]?.integer
        let hasError = status != nil || json["code"] != nil
        self.init(try Self.effect(json["action"]?.string ?? (hasError ? "error" : "delay"), json, status: status))
        if let name = json["endpoint"]?.string {
            guard let endpoint = Endpoint(rawValue: name) else {
                throw FaultRuleError(message: "endpoint must be \"send\" or \"token\"")
            }
            self.endpoint = endpoint
        }
        isDelivered = json["delivered"]?.boolean ?? false
        retryAfter = json["retry_after"].flatMap { $0.string ?? $0.integer.map(String.init) }
        latency = .milliseconds(try Self.number("latency_ms", json, upTo: limits.delaySeconds * 1000) ?? 0)
        let count = try Self.number("count", json, upTo: .max) ?? 1
        self.count = count == 0 ? nil : count
        skip = try Self.number("skip", json, upTo: .max) ?? 0
        registration = json["token"]?.string
    }

    private static func effect(_ action: String, _ json: JSONValue, status: Int?) throws(FaultRuleError) -> Effect {
        if let status, !(400...599).contains(status) { throw FaultRuleError(message: "status must be 400 to 599") }
        switch action {
        case "delay": return .none
        case "hang": return .hang
        case "drop": return .dropConnection
        case "reset": return .resetStream
        case "html": return .html(status: status ?? 502)
        case "error":
            if let code = json["code"]?.string {
                guard let fault = FCMFault(rawValue: code) else {
                    let known = FCMFault.allCases.map(\.rawValue)
                    throw FaultRuleError(message: "code must be one of \(known)")
                }
                return .error(fault, status: status)
            }
            guard let status, let fault = FCMFault(status: status) else {
                return .error(.internal, status: status)
            }
            return .error(fault)
        default:
            throw FaultRuleError(message: "action must be error, html, hang, drop, reset or delay")
        }
    }

    private static func number(_ name: String, _ json: JSONValue, upTo limit: Int) throws(FaultRuleError) -> Int? {
        guard let value = json[name] else { return nil }
        guard let number = value.integer, (0...limit).contains(number) else {
            throw FaultRuleError(message: "\(name) must be a whole number from 0 to \(limit)")
        }
        return number
    }

    private var spelling: (action: String, code: String?, status: Int?) {
        switch effect {
        case .none: ("delay", nil, nil)
        case .error(let fault, let status): ("error", fault.rawValue, status)
        case .html(let status): ("html", nil, status)
        case .hang: ("hang", nil, nil)
        case .dropConnection: ("drop", nil, nil)
        case .resetStream: ("reset", nil, nil)
        }
    }

    /// The rule as the control API shows it.
    func json(id: Int) -> JSONValue {
        var object = JSONObject()
        object["id"] = JSONValue(id)
        let (action, code, status) = spelling
        object["action"] = .string(action)
        object["code"] = code.map(JSONValue.string)
        object["status"] = status.map { JSONValue($0) }
        object["endpoint"] = .string(endpoint.rawValue)
        object["delivered"] = .bool(isDelivered)
        object["retry_after"] = retryAfter.map(JSONValue.string)
        object["latency_ms"] = JSONValue(Int(latency / .milliseconds(1)))
        object["count"] = JSONValue(count ?? 0)
        object["skip"] = JSONValue(skip)
        object["token"] = registration.map(JSONValue.string)
        return .object(object)
    }
}
