#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A worker's end of the connection to its decoder. Its functions block until all bytes are transferred.
struct DecoderSocket: Sendable {
    /// The limits of a wait, and the question whether the caller has cancelled it.
    struct Patience {
        let deadline: ContinuousClock.Instant
        var isCancelled: (@Sendable () -> Bool)?
        /// Whether the decoder has used more processor time than its picture may take. Unlike the deadline, it does not depend on what else
        /// the machine does.
        var isOverspent: (() -> Bool)?
    }

    /// Time between two questions whether the caller has cancelled.
    private static let cancellationInterval = Duration.milliseconds(10)
    /// Time between two looks at the processor time.
    private static let spendingInterval = Duration.milliseconds(100)

    let descriptor: Int32

    func send(_ bytes: UnsafeRawBufferPointer, _ patience: Patience) throws(DecoderFailure) {
        try transfer(bytes.count, POLLOUT, patience) { done in
            sendBytes(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]))
        }
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer, _ patience: Patience) throws(DecoderFailure) {
        try transfer(buffer.count, POLLIN, patience) { done in
            receiveBytes(descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
        }
    }

    /// Repeats a transfer until that many bytes are done.
    ///
    /// - Throws: `late`, `cancelled`, or `ended` with the status 0 when the connection is closed; the caller has to find the reason.
    private func transfer(
        _ count: Int, _ event: Int32, _ patience: Patience, _ step: (_ done: Int) -> Int
    ) throws(DecoderFailure) {
        var done = 0
        while done < count {
            let transferred = step(done)
            if transferred > 0 {
                done += transferred
                continue
            }
            guard transferred < 0, [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) else { throw .ended(.exited(status: 0)) }
            try wait(for: event, patience)
        }
    }

    private func wait(for event: Int32, _ patience: Patience) throws(DecoderFailure) {
        if let isCancelled = patience.isCancelled, isCancelled() { throw .cancelled }
        var left = patience.deadline - .now
        guard left > .zero, patience.isOverspent?() != true else { throw .late }
        if patience.isOverspent != nil { left = min(left, Self.spendingInterval) }
        if patience.isCancelled != nil { left = min(left, Self.cancellationInterval) }
        var slot = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = poll(&slot, 1, Int32(clamping: Int((left / .milliseconds(1)).rounded(.up))))
    }
}

private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
        // A signal would end the worker when its decoder has ended.
        send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    #else
        send(descriptor, bytes.baseAddress, bytes.count, MSG_DONTWAIT)
    #endif
}

private func receiveBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
        recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    #else
        recv(descriptor, buffer.baseAddress, buffer.count, MSG_DONTWAIT)
    #endif
}
