/// Writes JSON directly as bytes, because the dictionaries of an encoder are too slow for thousands of spans per second.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// Whether the open array or object already has a value.
    private var needsComma = false

    mutating func object(_ body: (inout JSONWriter) -> Void) { nest("{", "}", body) }

    mutating func array<Element>(_ elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) -> Void) {
        nest("[", "]") { writer in
            for element in elements { body(&writer, element) }
        }
    }

    /// Begins a member of the open object; its value follows.
    mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: "\":".utf8)
        needsComma = false
    }

    /// A text, cut to at most `maxByteCount` bytes of UTF-8.
    mutating func string(_ text: String, maxByteCount: Int = .max) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= maxByteCount else { break }
            add(scalar)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A number of up to 32 bits.
    mutating func number(_ value: Int) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// An integer of 64 bits, which the mapping of protocol buffers to JSON writes as a string.
    mutating func wideNumber(_ value: some FixedWidthInteger) { string(String(value)) }

    mutating func double(_ value: Double) {
        guard value.isFinite else { return string(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity") }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    private mutating func nest(_ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ body: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(UInt8(ascii: opening))
        needsComma = false
        body(&self)
        bytes.append(UInt8(ascii: closing))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func add(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"", "\\":
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(UInt8(ascii: scalar))
        case "\u{00}"..."\u{1f}":
            let digits = String(scalar.value, radix: 16)
            bytes.append(contentsOf: (digits.utf8.count == 1 ? "\\u000" : "\\u00").utf8)
            bytes.append(contentsOf: digits.utf8)
        default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
