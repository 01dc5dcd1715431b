import Hummingbird
import JSON

/// `/control/mails`: the mailbox.
extension ControlRoutes {
    func addMails(to router: Router<EmulatorContext>) {
        router.get("/control/mails") { request, _ in await mails(request) }
        router.delete("/control/mails", doing: core.mailbox.clear)
    }

    private func mails(_ request: Request) async -> Response {
        let limits = core.configuration.limits
        guard let wait = Self.number("wait", request, default: 0), (0...limits.waitSeconds).contains(wait) else {
            return EmulatorAnswer.problem("wait must be 0 to \(limits.waitSeconds) seconds")
        }
        guard let count = Self.number("count", request, default: 1), (0...limits.mails).contains(count) else {
            return EmulatorAnswer.problem("count must be 0 to \(limits.mails)")
        }
        guard let number = Self.number("after", request, default: 0), number >= 0 else {
            return EmulatorAnswer.problem("after must be a number that an answer gave as next, or 0")
        }
        let (mails, next) = await core.mailbox.mails(
            to: Self.query("to", request), from: number, atLeast: count, within: .seconds(wait))
        return EmulatorAnswer.json(["mails": .array(mails.map(\.json)), "next": .integer(next)])
    }
}
