internal import CommandLineSupport
internal import Logging

/// Shows notices and worse of a library to the operator, on the console of the running command.
struct ConsoleLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]
    private let console: Console

    /// Creates a logger that writes to a console.
    static func logger(_ console: Console = .current) -> Logger {
        Logger(label: "command") { _ in ConsoleLogHandler(console: console) }
    }

    init(console: Console) { self.console = console }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        console.note(PrintableText(([event.message.description] + fields).joined(separator: " ")))
    }
}
