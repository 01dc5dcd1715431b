import Foundation
import JSON
public import Logging

/// Writes each log line as one JSON object to standard error, so that a collector needs no pattern to read it.
///
/// Keys: `ts` (RFC 3339, UTC), `level`, `service`, `logger`, `msg`, and the metadata flattened beside them.
/// A line is cut at ``maxLineBytes``.
public struct JSONLogHandler: LogHandler {
    /// The longest line that is written, in bytes.
    public static let maxLineBytes = 16 * 1024

    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let service: String
    private let label: String
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - metadataProvider: adds metadata to each line, such as the request id.
    ///   - write: takes a finished line with its newline; by default standard error, one `write` a line.
    public init(
        service: String, label: String, level: Logger.Level, metadataProvider: Logger.MetadataProvider? = nil,
        write: @escaping @Sendable ([UInt8]) -> Void = JSONLogHandler.writeToStandardError
    ) {
        self.service = service
        self.label = label
        self.logLevel = level
        self.metadataProvider = metadataProvider
        self.write = write
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        if let error = event.error { fields["error"] = "\(error)" }
        let members = JSONWriter.bytes { line in
            line.member("ts", Date.now.formatted(Self.timestamp))
            line.member("level", event.level.rawValue)
            line.member("service", service)
            line.member("logger", label)
            line.member("msg", event.message.description)
            for (key, value) in fields.sorted(by: { $0.key < $1.key }) { line.member(key, value.description) }
        }
        write(Self.line(members))
    }

    private static let timestamp = Date.ISO8601FormatStyle.iso8601.year().month().day().timeSeparator(.colon)
        .time(includingFractionalSeconds: true)

    /// Puts the members of an object between braces, on one line, and cuts it at ``maxLineBytes``.
    private static func line(_ members: [UInt8]) -> [UInt8] {
        var line = [UInt8(ascii: "{")]
        line.reserveCapacity(members.count + 2)
        line += members.prefix(maxLineBytes - 1)
        if line.count <= members.count {
            // Drops back to the last plain byte, so that the line does not end within an escape or a character.
            while let last = line.last, last >= 0x80 || line.suffix(6).contains(UInt8(ascii: "\\")) { line.removeLast() }
            line += #"","cut":"true""#.utf8
        }
        line += "}\n".utf8
        return line
    }

    /// Writes a line with one system call, so that lines of several threads do not mix.
    public static let writeToStandardError: @Sendable ([UInt8]) -> Void = { line in
        FileHandle.standardError.write(Data(line))
    }
}
