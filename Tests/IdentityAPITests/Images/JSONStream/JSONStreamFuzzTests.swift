import Foundation
import JSON
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct JSONStreamFuzzTests {
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
            let ours = try? decodeDataURI(cut(bytes, at: [Int.random(in: 0...bytes.count, using: &random)]))
            let text = Self.canonical(base64: bytes)
            // Foundation also accepts texts that are not canonical.
            let theirs = Data(base64Encoded: Data(text)).flatMap { $0.base64EncodedData() == Data(text) ? [UInt8]($0) : nil }
            #expect(ours == theirs, "\(String(decoding: bytes, as: UTF8.self))")
        }
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

    private func outcome(_ chunks: [[UInt8]]) -> Result<StreamedBody, JSONError> {
        Result { () throws(JSONError) -> StreamedBody in try parseStream(chunks) }
    }
}
