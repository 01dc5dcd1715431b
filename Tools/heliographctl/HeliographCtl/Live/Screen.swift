internal import CommandLineSupport
internal import Dispatch
internal import Foundation

/// The size of a terminal in characters.
struct TerminalSize: Equatable {
    let columns: Int
    let rows: Int
}

/// The whole screen of the process's terminal, from ``take(interval:)`` to ``leave()``.
///
/// The alternate screen is used, so that the previous contents come back.
final class Screen {
    /// Events while the screen is held.
    enum Event: Sendable {
        /// An interval has passed.
        case tick
        case key(UInt8)
        case resized
        /// A signal asks the process to end, or the terminal was closed.
        case stopped
    }

    /// The byte of Ctrl-C while the terminal sends no signals for keys.
    static let controlC: UInt8 = 3

    /// The events in order. A slow reader misses old events rather than new ones.
    let events: AsyncStream<Event>
    private let sources: [any DispatchSourceProtocol]
    private let attributes: termios
    private var isHeld = true

    /// Takes the screen.
    ///
    /// - Throws: `POSIXError` when standard input is not a terminal.
    static func take(interval: Duration) async throws -> Screen {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else { throw POSIXError(.ENOTTY) }
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(64))
        let sources = Self.sources(continuation, interval: interval)
        // All signals must be handled before the screen is visible, because a user may then send one.
        for source in sources {
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
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

    /// Restores the terminal; a second call does nothing.
    func leave() {
        guard isHeld else { return }
        isHeld = false
        sources.forEach { $0.cancel() }
        Self.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        var attributes = attributes
        tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes)
    }

    /// The current size; 80 × 24 when the terminal does not report one.
    var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Draws the lines that fit over the previous ones; the screen is not cleared first, to avoid flicker.
    func draw(_ lines: [PrintableText]) {
        let shown = lines.prefix(size.rows).map { "\($0.text)\u{1B}[K" }
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
            // The input ends when the terminal is closed.
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
