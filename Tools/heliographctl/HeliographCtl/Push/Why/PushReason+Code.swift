internal import CommandLineSupport
internal import Push

extension PushReason {
    /// Returns the reason of a delivery in a state, by its code.
    ///
    /// The same word means the same wherever it is stored, so that the order in which the lists are read does not count.
    static func of(_ code: String, in state: Delivery.State) -> PushReason {
        if state == .skipped || state == .expired, let suppression = Suppression(rawValue: code) { return of(suppression) }
        if let code = DeliveryCode(rawValue: code) { return of(code) }
        if let known = fcm.first(where: { $0.codes.contains(code) }) { return known.reason }
        if code.hasPrefix(DeliveryCode.providerBreakerPrefix) { return providerBreaker }
        if code.hasPrefix(httpPrefix) { return http }
        return PushReason("FCM answered \(code.printable)", remedy: "Look the code up in FCM's documentation, and in the log of notifier.")
    }

    /// The table of all reasons in `docs/operations/push-why.md`.
    static var table: String {
        let skipped = SkipReason.allCases.map { ("`\($0.rawValue)`", "notification `skipped`", of($0)) }
        let suppressed = Suppression.allCases.map {
            ("`\($0.rawValue)`", $0 == .expired ? "delivery `expired`" : "delivery `skipped`", of($0))
        }
        let own = DeliveryCode.allCases.map { ("`\($0.rawValue)`", "delivery", of($0)) }
        let breaker = [("`\(DeliveryCode.providerBreakerPrefix)…`", "delivery", providerBreaker)]
        let fcm = fcm.map { known in (known.codes.map { "`\($0)`" }.joined(separator: ", "), "delivery", known.reason) }
        let http = [("`\(httpPrefix)…`", "delivery", http)]
        let unrequested = UnrequestedReason.allCases.map { ("`\($0.rawValue)`", "no notification", $0.explanation) }
        let members = UnaddressedReason.allCases.map { ("`\($0.rawValue)`", "member without a delivery", $0.explanation) }
        let rows = (unrequested + skipped + members + suppressed + own + breaker + fcm + http).map { code, place, reason in
            "| \(code) | \(place) | \(reason.cause) | \(reason.remedy) |"
        }
        return (["| code | of a | because | what to do |", "|---|---|---|---|"] + rows).joined(separator: "\n") + "\n"
    }
}
