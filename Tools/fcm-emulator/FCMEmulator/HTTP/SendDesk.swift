import FoundationEssentials
import JSON
import NIOCore
import Synchronization

/// Handles a request of `messages:send` and returns its outcome, the same over HTTP/2 and HTTP/1.1; never waits.
struct SendDesk: Sendable {
    let core: EmulatorCore

    /// Checks and delivers a message, or applies a fault rule to it.
    ///
    /// The request is processed when it arrives; a latency delays only the answer. So a caller that gives up meanwhile cannot
    /// know whether the message was delivered, as in production.
    func handle(_ bytes: [UInt8], project: String, authorization: String?, line: RequestLog.Line) -> RequestOutcome {
        let now = core.clock.now
        core.count { $0.sends += 1 }
        var record = RequestLog.Record(at: now, endpoint: .send, line: line)
        let fault = core.faults.take(.send, now: now) { target(of: bytes) }
        if let fault {
            record.fault = fault.id
            record.registration = target(of: bytes).registration
        }
        let isHarmed = fault.map { !$0.rule.isDelivered } ?? false
        if isHarmed, let fate = fault?.rule.fate(project: project, now: now) {
            return conclude(RequestOutcome(fate: fate, delay: fault?.rule.latency.sample() ?? .zero), &record)
        }
        var outcome: RequestOutcome
        do throws(FCMRefusal) {
            let name = try send(bytes, project: project, authorization: authorization, now: now, record: &record)
            outcome = RequestOutcome(fate: .reply(Reply(name: name)))
            if let fate = fault?.rule.fate(project: project, now: now) { outcome.fate = fate }
        } catch {
            record.refusal = error
            record.body = Array(bytes.prefix(RequestLog.maxBodyBytes))
            let retryAfter = error.retryAfterSeconds.map { String(Int($0.rounded(.up))) }
            outcome = RequestOutcome(fate: .reply(Reply(error, retryAfter: retryAfter)))
        }
        outcome.delay = fault?.rule.latency.sample() ?? .zero
        if case .goAway? = fault?.rule.effect { outcome.isLast = true }
        return conclude(outcome, &record)
    }

    /// Returns the refusal of a body that is longer than the limit.
    func tooLarge(line: RequestLog.Line) -> RequestOutcome {
        var record = RequestLog.Record(at: core.clock.now, endpoint: .send, line: line)
        let refusal = FCMRefusal.payloadTooLarge(limit: core.configuration.limits.bodyBytes)
        record.refusal = refusal
        return conclude(RequestOutcome(fate: .reply(Reply(refusal))), &record)
    }

    private func conclude(_ outcome: RequestOutcome, _ record: inout RequestLog.Record) -> RequestOutcome {
        if case .reply(let reply) = outcome.fate { record.status = reply.status }
        core.requests.append(record)
        let status = record.status
        core.count { $0.byStatus[status ?? 0, default: 0] += 1 }
        return outcome
    }

    /// Returns the registration of a request and its platform; called only when a fault rule depends on it or hits the request.
    private func target(of bytes: [UInt8]) -> (registration: String?, platform: DevicePlatform?) {
        let known = core.templates.withLock { $0.match(bytes)?.1 }
        let target = known ?? (try? JSONValue(parsing: bytes, limits: .request))?["message"].flatMap(MessageTarget.init)
        let registration = target?.registration
        return (registration, registration.flatMap { core.registrations.find($0)?.platform })
    }

    /// Checks a request in FCM's order, and delivers its message.
    private func send(
        _ bytes: [UInt8], project: String, authorization: String?, now: Date, record: inout RequestLog.Record
    ) throws(FCMRefusal) -> MessageName {
        let names = core.projectNames
        guard let authorization else { throw .credentialsMissing }
        try authorize(authorization, now: now)
        guard names.contains(project) else { throw .permissionDenied(project: project) }
        if let wait = core.quota.take(now: now) { throw .quotaExceeded(seconds: wait) }
        let (template, target) = try read(bytes)
        record.registration = target.registration
        var platform: DevicePlatform?
        var isOnline = true
        if let registration = target.registration {
            let standing = core.registrations.standing(
                of: registration, project: names, real: !template.isValidateOnly, now: now)
            switch standing {
            // All messages to a registration share the copy of its text that the registry keeps.
            case .active(let value, let found, let online): (record.registration, platform, isOnline) = (value, found, online)
            case .otherProject: throw .senderMismatch
            case .gone: throw .unregistered
            }
        }
        let name = MessageName(project: names[0], number: core.makeNameNumber(now: now), form: MessageName.Form(platform))
        if template.isValidateOnly { return name }
        record.isAccepted = true
        core.count { $0.accepted += 1 }
        deliver(
            KeptMessage(
                name: name, receivedAt: now, template: template, registration: record.registration, platform: platform,
                isOnPhone: isOnline))
        return name
    }

    /// Returns the template and the target of a request, which is parsed whole only when no cached template matches.
    private func read(_ bytes: [UInt8]) throws(FCMRefusal) -> (MessageTemplate, MessageTarget) {
        if let known = core.templates.withLock({ $0.match(bytes) }) { return known }
        let request = try MessageValidator(sizeLimit: core.configuration.sizeLimit).validate(bytes)
        let template = MessageTemplate(bytes, request)
        core.templates.withLock { $0.add(template) }
        return (template, request.target)
    }

    private func deliver(_ message: KeptMessage) {
        let number = core.inbox.append(message)
        guard !message.isOnPhone, let registration = message.registration else { return }
        let android = message.received.message["android"]
        let seconds = android?["ttl"]?.string.flatMap(ProtobufDuration.seconds) ?? OfflineStore.defaultLifetimeSeconds
        core.registrations.keep(
            OfflineStore.Message(
                number: number, collapseKey: android?["collapse_key"]?.string,
                expiresAt: message.receivedAt.addingTimeInterval(seconds)),
            for: registration)
    }

    private func authorize(_ header: String, now: Date) throws(FCMRefusal) {
        guard let space = header.utf8.firstIndex(of: UInt8(ascii: " ")), header[..<space].lowercased() == "bearer" else {
            throw .credentialsInvalid
        }
        switch core.accessTokens.standing(of: String(header[header.utf8.index(after: space)...]), now: now) {
        case .valid: break
        case .expired: throw .credentialsExpired
        case .unknown: throw .credentialsInvalid
        }
    }
}
