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

    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// Metadata of every line; a line's own metadata, and that of ``metadataProvider``, replace values of the same key.
    public var metadata: Logger.Metadata = [:]
    /// Gives further metadata when a line is written, such as the id of the request; a line's own metadata replaces it.
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

    /// The value of one key of ``metadata``; nil when the key is missing.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line with the time of the call; the event's error is its member `error`.
    public func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        if let error = event.error { fields["error"] = "\(error)" }
        let members = [
            ("ts", Date.now.formatted(Self.timestamp)), ("level", event.level.rawValue), ("service", service), ("logger", label),
            ("msg", event.message.description),
        ]
        write(Self.line(members + fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }))
    }

    private static let timestamp = Date.ISO8601FormatStyle.iso8601.year().month().day().timeSeparator(.colon)
        .time(includingFractionalSeconds: true)

    /// Writes an object on one line. The value that would exceed ``maxLineBytes`` is cut, and all members behind it are left out.
    private static func line(_ members: [(String, String)]) -> [UInt8] {
        var writer = JSONWriter()
        var (end, valueStart) = (0, 0)
        for (name, value) in members where writer.bytes.count <= maxLineBytes {
            end = writer.bytes.count
            writer.name(name)
            valueStart = writer.bytes.count + 1
            writer.string(value)
        }
        var line = writer.bytes
        if line.count > maxLineBytes {
            line.removeLast(line.count - (valueStart < maxLineBytes ? maxLineBytes : end))
            // Drops back to the last plain byte, so that the value does not end within an escape or a character.
            while line.count > valueStart, line[line.count - 1] >= 0x80 || line.suffix(6).contains(UInt8(ascii: "\\")) { line.removeLast() }
            if line.count >= valueStart { line.append(UInt8(ascii: "\"")) }
            line += #","cut":"true""#.utf8
        }
        return [UInt8(ascii: "{")] + line + Array("}\n".utf8)
    }

    /// Writes a line with one system call, so that lines of several threads do not mix.
    public static let writeToStandardError: @Sendable ([UInt8]) -> Void = { line in
        FileHandle.standardError.write(Data(line))
    }
}
