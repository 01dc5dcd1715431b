import FoundationEssentials
import NIOCore

/// The state that the connections of the mail listener share with the rest of the emulator.
struct MailDesk: Sendable {
    let core: EmulatorCore

    /// The extensions that a session offers.
    func offer(hasTLS: Bool) -> SMTPSession.Offer {
        let configuration = core.configuration
        var offer = SMTPSession.Offer()
        offer.hasTLS = hasTLS
        if let user = configuration.smtpUser { offer.credentials = (user, configuration.smtpPassword) }
        offer.maxMailBytes = configuration.limits.mailBytes
        offer.maxRecipients = configuration.limits.mailRecipients
        return offer
    }

    /// Whether one connection more than allowed is open.
    var isFull: Bool { core.mailConnections.openCount > core.configuration.limits.mailConnections }

    /// The longest time that a fault may hold back a reply.
    var maxDelay: Duration { .seconds(core.configuration.limits.delaySeconds) }

    /// Returns the fault rule that applies to a step, and counts one use of it.
    func fault(at step: MailStep, recipients: [String]) -> FaultRules.Entry? {
        core.faults.take(.mail, now: core.clock.now, step: step, recipients: recipients)
    }

    /// Adds a mail to the mailbox.
    func take(_ mail: SMTPMail, on channel: any Channel, fault: Int? = nil) {
        core.mailbox.append(mail, at: core.clock.now)
        log(mail.recipients, fault == nil ? 250 : nil, on: channel, fault, isAccepted: true)
    }

    /// Adds the outcome of a mail to the log of requests.
    func log(_ recipients: [String], _ code: Int?, on channel: any Channel, _ fault: Int?, isAccepted: Bool = false) {
        let line = RequestLog.Line(connection: core.mailConnections.add(channel))
        var record = RequestLog.Record(at: core.clock.now, endpoint: .mail, line: line)
        record.registration = recipients.joined(separator: ", ")
        (record.status, record.fault, record.isAccepted) = (code, fault, isAccepted)
        core.requests.append(record)
    }
}
