internal import CommandLineSupport
internal import FoundationEssentials

extension TimeLine: Report {
    /// Printed steps of deliveries; a topic may have thousands, and the JSON has them all.
    static let maxDeliverySteps = 40

    func lines(_ style: TextStyle) -> [PrintableText] {
        guard let start else { return [] }
        var table = Table(["TIME (UTC)", .right("+MS"), .right("TOTAL"), "STEP", "WHAT"])
        var previous = start
        var deliveries = 0
        for step in steps {
            if step.kind == "delivery" {
                deliveries += 1
                if deliveries > Self.maxDeliverySteps { continue }
            }
            let time = String(HumanUnits.timestamp(step.at).dropLast()).replacing("T", with: " ")
            let isOpen = step.state == .open
            let age = Duration.seconds(max(0, now.timeIntervalSince(step.at)))
            let emphasis: Emphasis = isOpen ? .warning : step.state == .failed ? .alarm : .none
            table.add([
                .init(time, .faint),
                isOpen ? .nothing : .init("+\(Self.milliseconds(from: previous, to: step.at))"),
                isOpen ? .nothing : .init("\(Self.milliseconds(from: start, to: step.at))"), .init(step.kind),
                .init(isOpen ? "OPEN for \(HumanUnits.age(age)): \(step.text)" : step.text, emphasis),
            ])
            if !isOpen { previous = step.at }
        }
        var lines = ["\(requestID.map { "Request \($0)" } ?? "A request without an id"): \(summary)", ""] + table.lines(style)
        let hidden = deliveries - Self.maxDeliverySteps
        if hidden > 0 { lines.append(style.apply(.faint, to: "\(hidden) more steps of deliveries: --json has them all")) }
        return lines
    }

    func encode(to encoder: any Encoder) throws {
        let start = start ?? now
        let steps = steps.map { step -> JSONRecord in
            [
                "at": step.at, "since_start_ms": Self.milliseconds(from: start, to: step.at), "state": step.state.rawValue,
                "kind": step.kind, "text": step.text,
            ]
        }
        let record: JSONRecord = ["request_id": requestID, "open": openCount, "steps": steps]
        try record.encode(to: encoder)
    }
}
