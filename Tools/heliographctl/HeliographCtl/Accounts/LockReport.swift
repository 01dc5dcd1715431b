internal import Accounts
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import WireFormat

/// The locks of an account, and the failed sign-ins that count, as text or JSON.
struct LockReport: Report {
    /// The devices that share a budget of failed sign-ins.
    struct Budget {
        /// `unknown` for all devices that are not known, else the beginning of the known device's key.
        let device: String
        let attempts: SignInAttempts

        /// When the lock ends; nil when the budget is not locked.
        func lockedUntil(_ now: Date) -> Date? { attempts.budget(at: now).lockedUntil }
    }

    let failures: [FailedSignIn]
    let now: Date

    /// The budgets with failures; the budget of the unknown devices comes first.
    var budgets: [Budget] {
        let byDevice = Dictionary(grouping: failures, by: Self.device)
        let known = byDevice.keys.filter { $0 != Self.unknown }.sorted()
        return ([Self.unknown] + known).compactMap { device in
            guard let failedAt = byDevice[device]?.map(\.failedAt) else { return nil }
            let attempts = SignInAttempts(failedAt: failedAt, undecided: 0, isKnown: device != Self.unknown)
            return Budget(device: device, attempts: attempts)
        }
    }

    private static let unknown = "unknown"
    /// The bytes of an installation's key that are shown, to tell devices apart.
    private static let shownKeyBytes = 4

    private static func device(_ failure: FailedSignIn) -> String {
        guard failure.isKnown, let key = failure.installationKey else { return unknown }
        return Hex.encode(Array(key.prefix(shownKeyBytes)))
    }

    func encode(to encoder: any Encoder) throws {
        let locks = budgets.map { budget -> JSONRecord in
            ["device": budget.device, "failures": budget.attempts.failedAt.count, "locked_until": budget.lockedUntil(now)]
        }
        let failures = failures.map { failure -> JSONRecord in
            [
                "session_id": failure.sessionID.wireString, "failed_at": failure.failedAt, "reason": failure.reason,
                "known_device": failure.isKnown, "device": Self.device(failure), "request_id": failure.requestID,
            ]
        }
        let record: JSONRecord = ["locks": locks, "failures": failures]
        try record.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        guard !failures.isEmpty else { return ["Not locked: no failed sign-in counts."] }
        var table = Table(["FAILED AT", "REASON", "DEVICE", "SESSION", "REQUEST"])
        for failure in failures {
            table.add([
                .init(HumanUnits.timestamp(failure.failedAt)), .init(failure.reason), .init(Self.device(failure)),
                .init(failure.sessionID.wireString), failure.requestID.map { .init($0) } ?? .nothing,
            ])
        }
        return budgets.map { line(of: $0, style) } + [""] + table.lines(style)
    }

    private func line(of budget: Budget, _ style: TextStyle) -> PrintableText {
        let who: PrintableText = budget.device == Self.unknown ? "Devices that are not known" : "Known device \(budget.device)"
        let count = HumanUnits.count(budget.attempts.failedAt.count, "failed sign-in")
        guard let end = budget.lockedUntil(now) else { return "\(who): not locked; \(count)." }
        let left = HumanUnits.age(.seconds(end.timeIntervalSince(now)))
        return style.apply(.warning, to: "\(who): locked until \(HumanUnits.timestamp(end)), for \(left) more; \(count).")
    }
}
