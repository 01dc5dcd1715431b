import FoundationEssentials
import Logging

/// Handles a request of `POST /token`, which exchanges a signed assertion for an access token, and returns its outcome.
struct TokenDesk: Sendable {
    let core: EmulatorCore

    func handle(_ bytes: [UInt8], line: RequestLog.Line) -> RequestOutcome {
        let now = core.clock.now
        var record = RequestLog.Record(at: now, endpoint: .token, line: line)
        let fault = core.faults.take(.token, now: now)
        record.fault = fault?.id
        let harm = fault?.rule.fate(project: core.projectNames[0], now: now)
        var outcome = RequestOutcome(fate: harm ?? .reply(issue(bytes, now: now)))
        outcome.delay = fault?.rule.latency.sample() ?? .zero
        if case .reply(let reply) = outcome.fate { record.status = reply.status }
        core.requests.append(record)
        return outcome
    }

    private func issue(_ bytes: [UInt8], now: Date) -> Reply {
        guard let verifier = core.verifier else { return .page(status: 503) }
        do throws(OAuthRefusal) {
            try verifier.verify(form: Self.form(String(decoding: bytes, as: UTF8.self)), now: now)
        } catch {
            core.logger.info("assertion refused", metadata: ["reason": "\(error.description)"])
            return Reply(error.body, status: 400)
        }
        return Reply(core.issueAccessToken(now: now))
    }

    /// Reads `application/x-www-form-urlencoded`.
    static func form(_ text: String) -> [String: String] {
        var form: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0], plusIsSpace: true) else { continue }
            form[name] = parts.count > 1 ? PercentCoding.decode(parts[1], plusIsSpace: true) : ""
        }
        return form
    }
}
