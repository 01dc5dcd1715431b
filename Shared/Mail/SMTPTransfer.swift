/// What libcurl's callbacks need while a mail is sent. Confined to the thread of its handle, which keeps it alive.
final class SMTPTransfer {
    private let body: [UInt8]
    private var readCount = 0
    private let isAbandoned: () -> Bool
    private let silenceLimit: Duration
    /// The time of the last reply; before the first reply, the time of the start.
    private var heardAt = ContinuousClock.now
    /// The command that was sent last.
    private(set) var step = SMTPEvidence.Step.session
    /// Whether the connection is a new one, on which the session begins.
    private var isNew = false
    private var announcesUTF8 = false
    /// Whether the server announced SMTPUTF8; nil unless the session began, and went on to the mail, on this connection.
    var takesInternationalAddresses: Bool? { isNew && step != .session ? announcesUTF8 : nil }
    /// Whether it was given up because a reused connection fell silent before the server had got any part of this mail.
    private(set) var isSilent = false

    init(body: [UInt8], silenceLimit: Duration, isAbandoned: @escaping () -> Bool) {
        self.body = body
        self.silenceLimit = silenceLimit
        self.isAbandoned = isAbandoned
    }

    /// Returns the transfer from the address that libcurl passes back.
    static func of(_ context: UnsafeMutableRawPointer?) -> SMTPTransfer? {
        context.map { Unmanaged<SMTPTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Copies the next bytes of the mail and returns how many; 0 at its end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let bytes = body[readCount...].prefix(buffer.count)
        buffer.copyBytes(from: bytes)
        readCount += bytes.count
        return bytes.count
    }

    /// Notes a command that was sent.
    func sent(_ command: UnsafeRawBufferPointer) {
        step.advance(command)
        guard step == .session else { return }
        isNew = true
        // After STARTTLS the server is asked again.
        if command.starts(with: "EHLO ".utf8) { announcesUTF8 = false }
    }

    /// Notes a line of a reply.
    func heard(_ line: UnsafeRawBufferPointer) {
        heardAt = .now
        guard step == .session else { return }
        let text = String(decoding: line, as: UTF8.self).uppercased()
        if text.hasPrefix("250"), text.dropFirst(4).hasPrefix("SMTPUTF8") { announcesUTF8 = true }
    }

    /// Returns whether the transfer is to end; libcurl asks at least once a second.
    func mustAbort() -> Bool {
        let isEarly = step == .sender || step == .recipient
        isSilent = !isNew && isEarly && ContinuousClock.now - heardAt >= silenceLimit
        return isSilent || isAbandoned()
    }
}
