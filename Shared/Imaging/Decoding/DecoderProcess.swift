internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// One decoder: a child process that decodes one picture at a time, and that is killed when it is released or misbehaves.
///
/// One thread at a time may order a picture from it. After an error that is not a refusal of the picture, it cannot be used any more.
final class DecoderProcess: Sendable {
    /// The longest time that a decoder may take to load its libraries, which takes some 0.3 s.
    private static let startingTime = Duration.seconds(60)

    let pid: pid_t
    private let socket: DecoderSocket
    private let end = Mutex<DecoderEnd?>(nil)

    /// Starts a decoder and waits until it is ready for pictures.
    ///
    /// - Throws: `notStarted`, also when its sandbox does not satisfy the mode.
    static func start(_ executable: String, arguments: [String], mode: SandboxMode) throws(DecoderFailure) -> (DecoderProcess, SandboxState)
    {
        let process = try DecoderProcess(executable, [mode.rawValue] + arguments)
        let message: DecoderMessage?
        do throws(DecoderFailure) {
            message = try process.message(DecoderSocket.Patience(deadline: .now + startingTime))
        } catch {
            throw .notStarted("\(executable): \(process.reason(of: error))")
        }
        switch message {
        case .ready(let state) where state.satisfies(mode): return (process, state)
        case .ready(.unsupported(let reason)): throw .notStarted("it cannot enter its sandbox: \(reason)")
        case .failure(let error): throw .notStarted(error.description)
        case .ready, .picture, .end, nil: throw .notStarted("\(executable): it speaks another protocol")
        }
    }

    private init(_ executable: String, _ arguments: [String]) throws(DecoderFailure) {
        (pid, socket) = try spawnDecoder(executable, arguments)
    }

    deinit {
        _ = kill()
        close(socket.descriptor)
    }

    /// Whether the process still runs.
    var isRunning: Bool {
        end.withLock { end in
            if end != nil { return false }
            var status: Int32 = 0
            guard waitpid(pid, &status, WNOHANG) == 0 else {
                end = DecoderEnd(waitStatus: status)
                return false
            }
            return true
        }
    }

    /// Sets the scheduling priority, relative to that of this process.
    func setPriority(_ priority: DecoderPriority) {
        // To lower the priority of a child needs no privilege. If it has ended, its first picture shows that. The priority of this thread,
        // which `getpriority` returns for 0, may be lower than that of the process.
        if priority.niceness > 0 {
            _ = setpriority(priorityOfProcess, id_t(pid), getpriority(priorityOfProcess, id_t(getpid())) + priority.niceness)
        }
    }

    /// The processor time that the process has used so far; zero where the system does not tell.
    var processorTime: Duration {
        #if canImport(Glibc)
            var (clock, time) = (clockid_t(), timespec())
            guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        #else
            return .zero
        #endif
    }

    /// Kills the process unless it has ended, and returns how it ended.
    func kill() -> DecoderEnd {
        end.withLock { end in
            if let end { return end }
            // Before `waitpid` returns, no other process has its id, and a signal does not change the status of an ended process.
            _ = systemKill(pid, SIGKILL)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let reason = DecoderEnd(waitStatus: status)
            end = reason
            return reason
        }
    }

    /// Orders a picture, and waits for it.
    ///
    /// - Returns: The picture, or the decoder's refusal.
    /// - Throws: ``DecoderFailure`` when the decoder cannot be used any more.
    func decode(
        _ request: DecodeRequest, _ file: [UInt8], _ patience: DecoderSocket.Patience
    ) throws(DecoderFailure) -> Result<DecodedPicture, ImagingError> {
        do throws(DecoderFailure) {
            try send(request.encoded, patience)
            try send(file, patience)
            return try answer(to: request, patience)
        } catch {
            throw reason(of: error)
        }
    }

    /// Kills the process after a failure, and returns the reason: for a closed connection that is the end of the process.
    private func reason(of failure: DecoderFailure) -> DecoderFailure {
        let end = kill()
        if case .ended = failure { return .ended(end) }
        return failure
    }

    private func answer(
        to request: DecodeRequest, _ patience: DecoderSocket.Patience
    ) throws(DecoderFailure) -> Result<DecodedPicture, ImagingError> {
        let size: DecodedSize
        switch try message(patience) {
        case .picture(let announced): size = announced
        case .failure(let error): return .failure(error)
        case .ready, .end, nil: throw .badAnswer("no picture")
        }
        guard request.allows(size) else { throw .badAnswer("a picture of another size") }
        var outcome = Result<ImagingError?, DecoderFailure>.success(nil)
        let pixels = [UInt8](unsafeUninitializedCapacity: size.byteCount) { buffer, filled in
            outcome = Result { () throws(DecoderFailure) in
                try receiveRows(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<size.byteCount])), patience)
            }
            if case .success(nil) = outcome { filled = size.byteCount }
        }
        if let error = try outcome.get() { return .failure(error) }
        return .success(DecodedPicture(size: size.size, bands: size.bands, original: size.original, pixels: pixels))
    }

    /// Fills a buffer with the rows of a picture; returns the decoder's error when it gave up between two rows.
    private func receiveRows(
        _ buffer: UnsafeMutableRawBufferPointer, _ patience: DecoderSocket.Patience
    ) throws(DecoderFailure) -> ImagingError? {
        var filled = 0
        while true {
            let (kind, byteCount) = try header(patience)
            switch kind {
            case .rows:
                guard byteCount > 0, byteCount <= buffer.count - filled else { throw .badAnswer("too many pixels") }
                try socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + byteCount)]), patience)
                filled += byteCount
            case .end:
                guard byteCount == 0, filled == buffer.count else { throw .badAnswer("too few pixels") }
                return nil
            case .failure:
                guard case .failure(let error) = try content(kind, byteCount, patience) else { throw .badAnswer("no error") }
                return error
            case .ready, .picture: throw .badAnswer("two pictures")
            }
        }
    }

    // MARK: Messages

    private func message(_ patience: DecoderSocket.Patience) throws(DecoderFailure) -> DecoderMessage? {
        let (kind, byteCount) = try header(patience)
        return try content(kind, byteCount, patience)
    }

    private func header(_ patience: DecoderSocket.Patience) throws(DecoderFailure) -> (DecoderMessage.Kind, byteCount: Int) {
        let bytes = try receive(DecoderMessage.headerBytes, patience)
        guard let numbers = DecodeRequest.numbers(bytes, count: 2), let kind = DecoderMessage.Kind(rawValue: numbers[0]) else {
            throw .badAnswer("an unknown message")
        }
        return (kind, numbers[1])
    }

    private func content(
        _ kind: DecoderMessage.Kind, _ byteCount: Int, _ patience: DecoderSocket.Patience
    ) throws(DecoderFailure) -> DecoderMessage? {
        guard (0...DecoderMessage.maxTextBytes).contains(byteCount) else { throw .badAnswer("a message that is too long") }
        return DecoderMessage(kind, try receive(byteCount, patience))
    }

    private func send(_ bytes: [UInt8], _ patience: DecoderSocket.Patience) throws(DecoderFailure) {
        try bytes.withUnsafeBufferPointer { bytes throws(DecoderFailure) in
            try socket.send(UnsafeRawBufferPointer(bytes), patience)
        }
    }

    private func receive(_ count: Int, _ patience: DecoderSocket.Patience) throws(DecoderFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBufferPointer { bytes throws(DecoderFailure) in
            try socket.receive(into: UnsafeMutableRawBufferPointer(bytes), patience)
        }
        return bytes
    }
}

private func systemKill(_ pid: pid_t, _ signal: Int32) -> Int32 { kill(pid, signal) }
