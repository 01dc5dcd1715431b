internal import Dispatch
internal import Foundation

/// How many characters a terminal shows.
struct TerminalSize: Equatable {
    let columns: Int
    let rows: Int
}

/// The whole screen of the terminal that the process runs in, from ``take(interval:)`` to ``leave()``.
///
/// The alternate screen is used, so that what was there before comes back.
final class Screen {
    /// What happens while the screen is held.
    enum Event: Sendable {
        /// The interval is over once more.
        case tick
        case key(UInt8)
        case resized
        /// Somebody wants the process to end.
        case stopped
    }

    /// What Ctrl-C sends while the terminal makes no signals.
    static let controlC: UInt8 = 3

    /// What happens, in order. A slow reader misses old events rather than new ones.
    let events: AsyncStream<Event>
    private let sources: [any DispatchSourceProtocol]
    private let attributes: termios
    private var isHeld = true

    /// Takes the screen.
    ///
    /// - Throws: `POSIXError` when standard input is no terminal.
    static func take(interval: Duration) async throws -> Screen {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else { throw POSIXError(.ENOTTY) }
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(64))
        let sources = Self.sources(continuation, interval: interval)
        // Whoever sees the screen may send a signal, so all of them must be heard by then.
        for source in sources {
            await withCheckedContinuation { heard in
                source.setRegistrationHandler { heard.resume() }
                source.resume()
            }
        }
        return Screen(events: events, sources: sources, attributes: attributes)
    }

    private init(events: AsyncStream<Event>, sources: [any DispatchSourceProtocol], attributes: termios) {
        self.events = events
        self.sources = sources
        self.attributes = attributes
        var attributes = attributes
        // No echo, no lines, and no signals from keys: Ctrl-Z would leave the shell with this screen.
        attributes.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes)
        // The alternate screen, no cursor, and lines that are too long are cut off instead of wrapped.
        Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    }

    /// Gives the screen back as it was; harmless the second time.
    func leave() {
        guard isHeld else { return }
        isHeld = false
        sources.forEach { $0.cancel() }
        Self.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        var attributes = attributes
        tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes)
    }

    /// The size right now; that of an old terminal when this one does not know its own.
    var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Shows lines, as many as fit, over what was there before; nothing is cleared first, so nothing flickers.
    func draw(_ lines: [String]) {
        let shown = lines.prefix(size.rows).map { $0 + "\u{1B}[K" }
        Self.write("\u{1B}[H" + shown.joined(separator: "\r\n") + "\u{1B}[J")
    }

    private static func sources(
        _ continuation: AsyncStream<Event>.Continuation, interval: Duration
    ) -> [any DispatchSourceProtocol] {
        let queue = DispatchQueue(label: "heliographctl.screen")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let nanoseconds = Int(interval.seconds * 1e9)
        timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), repeating: .nanoseconds(nanoseconds))
        timer.setEventHandler { continuation.yield(.tick) }
        let keys = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
        keys.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            // The end of the input is a terminal that was closed.
            if count <= 0 { return _ = continuation.yield(.stopped) }
            for byte in bytes.prefix(count) { continuation.yield(.key(byte)) }
        }
        let signals = [(SIGINT, Event.stopped), (SIGTERM, .stopped), (SIGHUP, .stopped), (SIGWINCH, .resized)].map { number, event in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { continuation.yield(event) }
            return source as any DispatchSourceProtocol
        }
        return [timer as any DispatchSourceProtocol, keys as any DispatchSourceProtocol] + signals
    }

    private static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
