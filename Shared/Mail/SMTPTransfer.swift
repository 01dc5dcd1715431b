/// What libcurl's callbacks need while a mail is sent. Confined to the thread of its handle, which keeps it alive.
final class SMTPTransfer {
    private let body: [UInt8]
    private var readCount = 0
    private let isAbandoned: () -> Bool
    /// The command that was sent last.
    private(set) var step = SMTPEvidence.Step.session

    init(body: [UInt8], isAbandoned: @escaping () -> Bool) {
        self.body = body
        self.isAbandoned = isAbandoned
    }

    /// Returns the transfer whose address libcurl was given.
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
    func sent(_ command: UnsafeRawBufferPointer) { step.advance(command) }

    /// Whether the transfer is to end; libcurl asks at least once a second.
    var mustAbort: Bool { isAbandoned() }
}
