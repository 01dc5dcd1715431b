import TestSupport
import Testing

@testable import FCMEmulator

@Suite struct JSONTests {
    @Test(arguments: [
        #"{"b":1,"a":[true,false,null],"c":{"d":"e"}}"#, "[]", "{}", "\"\"", "-0.5e+7", #"["é😀\u0041\ud83d\ude00\n\/"]"#,
    ])
    func `a JSON text is parsed and written back to the same value`(_ text: String) throws {
        let value = try JSONParser.parse(Array(text.utf8))
        #expect(try JSONParser.parse(Array(value.serialized().utf8)) == value)
        #expect(try JSONParser.parse(Array(value.prettyPrinted().utf8)) == value)
    }

    @Test(arguments: [
        "", "{", "[1,]", #"{"a":1,}"#, #"{"a" 1}"#, "{a:1}", "01", "1.", ".5", "1e", "+1", "tru", "\"\u{01}\"", #""\x""#,
        #""\ud800""#, #""\ud800\u0041""#, "\"abc", "1 2", "nul", "'a'", #"{"a":1 "b":2}"#, "[1 2]", "\u{FEFF}1",
    ])
    func `text that is not JSON is refused`(_ text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(Array(text.utf8)) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
    }

    @Test func `nesting beyond the limit is refused without a crash`() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(Array(deep.utf8)) }
        let allowed = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(throws: Never.self) { try JSONParser.parse(Array(allowed.utf8)) }
    }

    @Test func `the order of members and the spelling of numbers are kept`() throws {
        let value = try JSONParser.parse(Array(#"{"z":12.50,"a":1e2}"#.utf8))
        #expect(value.serialized() == #"{"z":12.50,"a":1e2}"#)
        #expect(value["a"]?.integer == 100)
    }

    @Test func `a repeated name keeps its last value`() throws {
        #expect(try JSONParser.parse(Array(#"{"a":1,"b":2,"a":3}"#.utf8)).serialized() == #"{"a":3,"b":2}"#)
    }

    @Test func `damaged texts never crash the parser`() {
        let seed = Array(#"{"message":{"token":"x","data":{"a":"\u00e9\\","b":"c"},"n":[1.5e3,true,null,{}]}}"#.utf8)
        var random = SeededGenerator(seed: 42)
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1 where bytes.count > 1: bytes.remove(at: index)
                default: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: index)
                }
            }
            if let value = try? JSONParser.parse(bytes) {
                #expect(JSONValue(parsing: Array(value.serialized().utf8)) == value)
            }
        }
    }
}
