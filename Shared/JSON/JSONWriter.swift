/// Writes JSON into one array of bytes, with the members in the given order and only the escapes that RFC 8259 requires.
///
/// Members that are written outside of an object are a fragment, to be put between braces by the caller.
public struct JSONWriter: Sendable {
    private enum Place { case first, afterName, next }

    /// The text so far.
    public private(set) var bytes: [UInt8] = []
    private var place = Place.first
    /// The level of the open array or object; nil when the text is on one line.
    private var level: Int?

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - isPretty: Whether the text is indented by two spaces a level, as Google's APIs answer.
    ///   - capacity: The bytes to make room for.
    public init(isPretty: Bool = false, capacity: Int = 0) {
        level = isPretty ? 0 : nil
        bytes.reserveCapacity(capacity)
    }

    /// Returns what `body` writes; see ``init(isPretty:capacity:)``.
    public static func bytes(capacity: Int = 0, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        body(&writer)
        return writer.bytes
    }

    // MARK: Arrays and objects

    /// An object, whose members `body` writes.
    public mutating func object(_ body: (inout JSONWriter) -> Void) { nest("{", "}", body) }

    /// An array, whose elements `body` writes.
    public mutating func array(_ body: (inout JSONWriter) -> Void) { nest("[", "]", body) }

    /// The name of a member; its value follows.
    public mutating func name(_ name: String) {
        separate()
        Self.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        if level != nil { bytes.append(UInt8(ascii: " ")) }
        place = .afterName
    }

    /// A member that is an object.
    public mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        object(body)
    }

    /// A member that is an array.
    public mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        array(body)
    }

    /// Writes a member that is a string; no member when the string is nil.
    public mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    /// A member that is a number.
    public mutating func member(_ name: String, _ number: Int) {
        self.name(name)
        integer(number)
    }

    // MARK: Values

    /// A string.
    public mutating func string(_ text: String) {
        separate()
        Self.append(text, to: &bytes)
    }

    /// A string of ASCII that has no character to escape, which the caller knows, such as an id.
    public mutating func string(unescaped text: UnsafeRawBufferPointer) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A whole number.
    public mutating func integer(_ value: Int) { write(String(value)) }

    /// A finite number.
    public mutating func double(_ value: Double) { write(value.description) }

    /// `true` or `false`.
    public mutating func bool(_ value: Bool) { write(value ? "true" : "false") }

    /// Any value.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: write("null")
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let spelling): write(spelling)
        case .string(let text): string(text)
        case .slice(let text):
            write("\"")
            bytes += text
            bytes.append(UInt8(ascii: "\""))
        case .array(let elements):
            array { writer in
                for element in elements { writer.value(element) }
            }
        case .object(let members):
            object { writer in
                for member in members {
                    writer.name(member.name)
                    writer.value(member.value)
                }
            }
        }
    }

    private mutating func write(_ token: String) {
        separate()
        bytes.append(contentsOf: token.utf8)
    }

    private mutating func nest(_ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ body: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(UInt8(ascii: opening))
        place = .first
        level = level.map { $0 + 1 }
        body(&self)
        level = level.map { $0 - 1 }
        if place == .next { newline() }
        bytes.append(UInt8(ascii: closing))
        place = .next
    }

    private mutating func separate() {
        if place == .next { bytes.append(UInt8(ascii: ",")) }
        if place != .afterName, level != 0 { newline() }
        place = .next
    }

    private mutating func newline() {
        guard let level else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }

    // MARK: Strings

    /// Appends a string with its quotes. A text without characters to escape, as nearly all are, is copied whole.
    public static func append(_ text: String, to json: inout [UInt8]) {
        json.append(UInt8(ascii: "\""))
        text.withBytes { bytes in
            var start = 0
            while true {
                let index = JSONString.plainText(in: bytes, from: start).end
                json.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
                guard index < bytes.count else { return }
                append(escaping: bytes[index], to: &json)
                start = index + 1
            }
        }
        json.append(UInt8(ascii: "\""))
    }

    private static func append(escaping byte: UInt8, to json: inout [UInt8]) {
        json.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: json.append(UInt8(ascii: "b"))
        case 0x09: json.append(UInt8(ascii: "t"))
        case 0x0A: json.append(UInt8(ascii: "n"))
        case 0x0C: json.append(UInt8(ascii: "f"))
        case 0x0D: json.append(UInt8(ascii: "r"))
        case 0..<0x20:
            json.append(contentsOf: byte < 0x10 ? "u000".utf8 : "u001".utf8)
            json.append(contentsOf: String(byte & 0xF, radix: 16).utf8)
        default: json.append(byte)
        }
    }
}

extension JSONValue {
    /// The value as JSON, on one line.
    public var bytes: [UInt8] { JSONWriter.bytes { $0.value(self) } }

    /// The value as JSON text, on one line.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as JSON text, indented by two spaces a level and ended by a newline, as Google's APIs answer.
    public var prettyText: String {
        var writer = JSONWriter(isPretty: true)
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
}
