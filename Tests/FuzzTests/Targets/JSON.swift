import Foundation
import JSON

extension FuzzTarget {
    /// A JSON text.
    static let json = FuzzTarget(name: "json") { bytes in
        let strict = Result { () throws(JSONError) -> JSONValue in try JSONValue(parsing: bytes) }
        try checkLenient(bytes, strict)
        let foundation = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        switch strict {
        case .success(let value):
            try require(depth(of: value) <= JSONLimits().maxDepth, "the limit of depth")
            try checkWriting(value)
            if let foundation {
                try require(isEqual(value, foundation), "the value and Foundation's: \(value.text)")
            } else {
                try require(FoundationJSON.refusesNumbers(of: value), "Foundation refuses what is accepted: \(value.text)")
            }
        case .failure(let error) where error.code == .malformed:
            try require(foundation == nil || FoundationJSON.isLaxer(about: bytes), "Foundation accepts what is refused: \(error)")
        case .failure:
            break
        }
    }

    /// Returns the number of arrays and objects that are in each other.
    private static func depth(of value: JSONValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.map { depth(of: $0.value) }.max() ?? 0)
        default: 0
        }
    }

    /// What is written is read back the same, and is written the same again.
    private static func checkWriting(_ value: JSONValue) throws {
        let written = value.bytes
        let again = try JSONValue(parsing: written)
        try requireEqual(again, value, "the value that is read from what was written")
        try requireEqual(again.bytes, written, "what is written of it")
        try requireEqual(try JSONValue(parsing: Array(value.prettyText.utf8)).bytes, written, "what is written of the indented text")
    }

    /// The lenient reader accepts what the strict one does; it decodes a long string later, to the same bytes.
    private static func checkLenient(_ bytes: [UInt8], _ strict: Result<JSONValue, JSONError>) throws {
        let lenient = try? JSONValue(parsing: bytes, limits: JSONLimits(isLenient: true))
        let sliced = try? JSONValue(parsing: bytes, limits: JSONLimits(maxStringBytes: 4, isLenient: true))
        try requireEqual(lenient == nil, sliced == nil, "the length of strings and whether a text is accepted")
        guard case .success(let value) = strict else {
            // It may have faults in its values alone.
            if let lenient { _ = lenient.bytes }
            return
        }
        try requireEqual(lenient, value, "the lenient reader and the strict one")
        if let sliced { try checkTexts(sliced, value) }
    }

    private static func checkTexts(_ sliced: JSONValue, _ value: JSONValue) throws {
        switch (sliced, value) {
        case (.array(let left), .array(let right)):
            for (left, right) in zip(left, right) { try checkTexts(left, right) }
        case (.object(let left), .object(let right)):
            for (left, right) in zip(left, right) { try checkTexts(left.value, right.value) }
        case (.slice, .string(let text)):
            try requireEqual(sliced.withUTF8 { Array($0) }, Array(text.utf8), "the bytes of a long string")
        default:
            try requireEqual(sliced, value, "values that are no long strings")
        }
    }

    /// Foundation rounds a long number at each power of ten.
    private static func isClose(_ left: Double?, _ right: Double?) -> Bool {
        guard let left, let right else { return false }
        return left == right || abs(left - right) <= max(left.magnitude, right.magnitude) * 1e-12
    }

    /// The bytes but for U+FEFF: at the beginning of a string and after an escape, Foundation takes it for a byte order mark.
    private static func withoutMarks(_ text: String) -> [UInt8] {
        text.unicodeScalars.filter { $0 != "\u{FEFF}" }.flatMap { Array(String($0).utf8) }
    }

    private static func isEqual(_ value: JSONValue, _ other: Any) -> Bool {
        switch value {
        case .null: return other is NSNull
        case .bool(let bool): return (other as? Bool) == bool
        // Foundation's decimal numbers, of long integers, are no `Int`.
        case .integer(let number): return (other as? NSNumber)?.description == "\(number)"
        case .number(let spelling): return isClose((other as? NSNumber)?.doubleValue, Double(spelling))
        case .string(let text):
            return (other as? String).map { withoutMarks($0) == withoutMarks(text) } ?? false
        case .slice: return false
        case .array(let elements):
            guard let others = other as? [Any], others.count == elements.count else { return false }
            return zip(elements, others).allSatisfy { isEqual($0, $1) }
        case .object(let members):
            // Of names that differ by such a mark alone, Foundation keeps one.
            if members.contains(where: { $0.name.unicodeScalars.contains("\u{FEFF}") }) { return other is [String: Any] }
            guard let others = other as? [String: Any], others.count == members.count else { return false }
            return members.allSatisfy { member in others[member.name].map { isEqual(member.value, $0) } ?? false }
        }
    }
}

/// Where Foundation's reader differs from RFC 8259 or from this system's on purpose.
private enum FoundationJSON {
    /// Foundation accepts a comma before a closing bracket, and texts in UTF-16 and UTF-32 or with a byte order mark.
    static func isLaxer(about bytes: [UInt8]) -> Bool {
        if bytes.contains(0) || bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return true }
        let tokens = bytes.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return zip(tokens, tokens.dropFirst()).contains { $0 == UInt8(ascii: ",") && "]}".utf8.contains($1) }
    }

    /// Foundation refuses numbers that a `Double` can only approximate by zero.
    static func refusesNumbers(of value: JSONValue) -> Bool {
        switch value {
        case .number(let spelling):
            Double(spelling).map { $0.isZero || $0.isSubnormal } == true
        case .array(let elements): elements.contains(where: refusesNumbers)
        case .object(let members): members.contains { refusesNumbers(of: $0.value) }
        default: false
        }
    }
}
