import Foundation
import JSON
import TestSupport
import Testing

@Suite struct FuzzTests {
    /// Pieces that bodies are composed of, so that nearly-JSON is frequent.
    private static let pieces = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\\"", "\\u0041", "\\ud83d\\ude00", "\"a\":", "\"image\":", "\"QUJD\"", "true",
        "null", "1", "-0.5e1", " ", "\n", "\u{1}", "é", "\"a\":1", "\"b\":[]", "\"c\":{\"d\":\"e\"}", "\"image\":\"QUJDRA==\"",
    ]

    @Test(arguments: 0..<8)
    func `nearly-JSON is accepted exactly when Foundation accepts it, however it is split`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var wellFormed = 0
        for _ in 0..<2_000 {
            let text = Self.body(&random)
            let bytes = Array(text.utf8)
            let whole = outcome([bytes])
            let cuts = (0..<Int.random(in: 1..<6, using: &random)).map { _ in Int.random(in: 0...bytes.count, using: &random) }
            #expect(outcome(cut(bytes, at: cuts)) == whole, "\(text.debugDescription) cut at \(cuts)")
            let isObject = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
            switch whole {
            case .success:
                wellFormed += 1
                #expect(isObject, "\(text.debugDescription)")
            case .failure(let error) where [.malformed, .truncated, .notASCII].contains(error.code):
                // In a streamed text only escapes of ASCII are accepted. Foundation also accepts a trailing comma.
                let isKnown = text.contains("\\ud83d") || text.contains(/,\s*[}\]]/)
                #expect(!isObject || isKnown, "\(text.debugDescription): \(error)")
            case .failure:
                break
            }
        }
        #expect(wellFormed > 100, "the generator makes too few bodies that parse: \(wellFormed)")
    }

    @Test func `random bytes never trap and give the same result however they are split`() {
        var random = SeededGenerator(seed: 8_259)
        let alphabet = Array("{}[]\",:\\u0aA1-.eE+ntf \n\t".utf8) + [0, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
        for _ in 0..<5_000 {
            let bytes =
                Array("{\"image\":".utf8.prefix(Int.random(in: 0...9, using: &random)))
                + (0..<Int.random(in: 0..<80, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
            let cuts = (0..<3).map { _ in Int.random(in: 0...bytes.count, using: &random) }
            #expect(outcome(cut(bytes, at: cuts)) == outcome([bytes]))
        }
    }

    @Test func `base64 is accepted exactly when Foundation accepts its usual spelling`() {
        var random = SeededGenerator(seed: 4_648)
        let alphabet = Array("ABCDwxyz0189+/=-_\n ".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<16, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
            let ours = try? decode(cut(bytes, at: [Int.random(in: 0...bytes.count, using: &random)]))
            let text = Self.canonical(base64: bytes)
            // Foundation also accepts texts that are not canonical.
            let theirs = Data(base64Encoded: Data(text)).flatMap { $0.base64EncodedData() == Data(text) ? [UInt8]($0) : nil }
            #expect(ours == theirs, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    private static func randomValue(_ random: inout SeededGenerator, depth: Int = 0) -> JSONValue {
        func text() -> String {
            let scalars = ["a", "\"", "\\", "/", "\n", "\u{0}", "\u{1f}", "<", "é", "\u{2028}", "😀"]
            return (0..<Int.random(in: 0..<6, using: &random)).map { _ in scalars.randomElement(using: &random)! }.joined()
        }
        switch Int.random(in: 0..<(depth < 4 ? 8 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        case 3: return .number("\(Double.random(in: -1e9...1e9, using: &random) / 3)")
        case 4, 5: return .string(text())
        case 6: return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in randomValue(&random, depth: depth + 1) })
        default:
            let names = Set((0..<Int.random(in: 0..<5, using: &random)).map { _ in text() })
            return .object(names.sorted().map { .init($0, randomValue(&random, depth: depth + 1)) })
        }
    }

    @Test func `what is written is read back the same, and Foundation reads the same`() throws {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<3_000 {
            let value = Self.randomValue(&random)
            #expect(try JSONValue(parsing: value.bytes) == value)
            #expect(try JSONValue(parsing: Array(value.prettyText.utf8)) == value)
            let canonical = try Self.canonical(value.bytes)
            #expect(try Self.canonical(JSONValue(parsing: canonical).bytes) == canonical)
        }
    }

    /// The text as Foundation writes what it reads.
    private static func canonical(_ bytes: [UInt8]) throws -> [UInt8] {
        let value = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        return [UInt8](try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys]))
    }

    @Test func `a damaged text that is accepted is JSON to Foundation too, and every truncation is refused`() throws {
        let whole = Array(#"{"a":[{"b":"c\u00e9\"","d":[1,2.5,true]},null,{"e":{"f":"\\"}}],"g":-1.5e3}"#.utf8)
        for count in 0..<whole.count { #expect(throws: JSONError.self) { try JSONValue(parsing: Array(whole.prefix(count))) } }
        var random = SeededGenerator(seed: 20_261_122)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(bytes.randomElement(using: &random)!, at: index)
                }
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            accepted += 1
            #expect(try JSONValue(parsing: value.bytes) == value)
            let foundation = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            #expect(foundation != nil, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > 100, "too few damaged texts parse: \(accepted)")
    }

    /// The text in the standard alphabet, padded and in one line.
    private static func canonical(base64 bytes: [UInt8]) -> [UInt8] {
        var text = bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: " ") }
        let signs = [UInt8(ascii: "-"): UInt8(ascii: "+"), UInt8(ascii: "_"): UInt8(ascii: "/")]
        text = text.map { signs[$0] ?? $0 }
        if !text.contains(UInt8(ascii: "=")) { while text.count % 4 > 1 { text.append(UInt8(ascii: "=")) } }
        return text
    }

    private static let wellFormed = [#""a":1"#, #""b":[ ]"#, #""image":"QUJD""#, #""c":{"d":"\n"}"#, #""e" : null"#]

    private static func body(_ random: inout SeededGenerator) -> String {
        if Bool.random(using: &random) {
            let members = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                (wellFormed + [pieces.randomElement(using: &random)!]).randomElement(using: &random)!
            }
            return "{" + members.joined(separator: ",") + "}"
        }
        return "{" + (0..<Int.random(in: 0..<12, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
    }

    private func outcome(_ chunks: [[UInt8]]) -> Result<Parsed, JSONError> {
        Result { () throws(JSONError) -> Parsed in try parse(chunks) }
    }
}
