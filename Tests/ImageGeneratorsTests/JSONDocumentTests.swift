import TestSupport
import Testing

@testable import ImageGenerators

@Suite struct JSONDocumentTests {
    private func document(_ text: String) -> JSONDocument? { JSONDocument(Array(text.utf8)) }

    @Test func `values are found by either spelling`() throws {
        let root = try #require(document(#" {"a_name": {"b": [1, true, null, "x"]}, "other":false} "#)).root
        #expect(root["aName"]?["b"]?.elements.count == 4)
        #expect(root["aName"]?["b"]?.elements[1].isTrue == true)
        #expect(root["aName"]?["b"]?.elements[3].text() == "x")
        #expect(root["other"]?.isTrue == false)
        #expect(root["missing"] == nil)
    }

    @Test(arguments: [
        (#"a\/b"#, "a/b"), (#"\"\\\""#, #""\""#), (#"\\"#, #"\"#), (#"tab\tline\n"#, "tab\tline\n"), (#"\u00e9"#, "é"),
        (#"\ud83d\ude00!"#, "😀!"), ("ä", "ä"), ("", ""), (#"\\\\\""#, #"\\""#),
    ])
    func `escapes are resolved`(spelling: String, text: String) {
        #expect(document("[\"\(spelling)\",2]")?.root.elements.first?.text() == text)
    }

    @Test(arguments: [#"\ud83d"#, #"\udc00"#, #"\ud83d\u0041"#, #"\u12"#, #"\uzzzz"#, #"\u+123"#])
    func `a text with a malformed escape is nil`(spelling: String) {
        #expect(document("[\"\(spelling)\"]")?.root.elements.first?.text() == nil)
    }

    @Test(arguments: [
        "", " ", "{", "[", "]", "{]", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "\"", "\"\\\"", "\"\\", "tru",
        "nul", "[1 2]", "1 2", "--1", "[}", "{\"a\":1}}", "\u{0}",
    ])
    func `a truncated or malformed text is no document`(text: String) {
        #expect(document(text) == nil)
    }

    @Test func `depth and number of values are limited`() {
        #expect(document(String(repeating: "[", count: 60) + String(repeating: "]", count: 60)) != nil)
        #expect(document(String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)) == nil)
        #expect(document("[" + String(repeating: "{},", count: 30_000) + "{}]") == nil)
    }

    @Test func `every truncation of an answer is no document`() {
        let whole = Array(#"{"candidates":[{"content":{"parts":[{"inlineData":{"data":"QUJD\/w==","n":-1.5e3}}]}}],"b":[true,null]}"#.utf8)
        #expect(JSONDocument(whole) != nil)
        for count in 0..<whole.count { #expect(JSONDocument(Array(whole.prefix(count))) == nil) }
    }

    @Test func `random changes never crash the parser`() {
        let whole = Array(#"{"a":[{"b":"c\u00e9\"","d":[1,2.5,true]},null,{"e":{"f":"\\"}}]}"#.utf8)
        var generator = SeededGenerator(seed: 20_261_122)
        for _ in 0..<20_000 {
            var changed = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let root = JSONDocument(changed)?.root else { continue }
            _ = root["a"]?.elements.map { $0["b"]?.text() }
        }
    }
}
