import Foundation
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
        var line = JSONLine()
        line.add("ts", Date.now.formatted(.iso8601.year().month().day().timeSeparator(.colon).time(includingFractionalSeconds: true)))
        line.add("level", event.level.rawValue)
        line.add("service", service)
        line.add("logger", label)
        line.add("msg", event.message.description)
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        if let error = event.error { fields["error"] = "\(error)" }
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) { line.add(key, value.description) }
        write(line.finished(limit: Self.maxLineBytes))
    }

    /// Writes a line with one system call, so that lines of several threads do not mix.
    public static let writeToStandardError: @Sendable ([UInt8]) -> Void = { line in
        FileHandle.standardError.write(Data(line))
    }
}

/// A JSON object on one line, put together by hand: a log line must not fail to encode.
private struct JSONLine {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    mutating func add(_ key: String, _ value: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        addQuoted(key)
        bytes.append(UInt8(ascii: ":"))
        addQuoted(value)
    }

    consuming func finished(limit: Int) -> [UInt8] {
        if bytes.count > limit {
            bytes.removeLast(bytes.count - limit)
            // Drops back to the last plain byte, so that the line does not end within an escape or a character.
            while let last = bytes.last, last == UInt8(ascii: "\\") || last >= 0x80 || bytes.suffix(6).contains(UInt8(ascii: "\\")) {
                bytes.removeLast()
            }
            bytes.append(contentsOf: "\",\"cut\":\"true".utf8)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(contentsOf: "}\n".utf8)
        return bytes
    }

    private mutating func addQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
