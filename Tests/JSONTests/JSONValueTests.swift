import JSON
import Testing

@Suite struct JSONValueTests {
    private func parse(_ text: String, _ limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), limits: limits)
    }

    @Test func `values are read with their types, order and spelling`() throws {
        let value = try parse(#" {"z":12.50,"a":[1,-7,1e2,-0,true,false,null,"x"],"empty":{},"none":[ ],"big":9223372036854775808} "#)
        #expect(value.members?.map(\.name) == ["z", "a", "empty", "none", "big"])
        #expect(value["a"] == [1, -7, .number("1e2"), .number("-0"), true, false, nil, "x"])
        #expect(value["z"] == .number("12.50") && value["z"]?.double == 12.5 && value["z"]?.integer == nil)
        #expect(value["a"]?[2]?.integer == 100 && value["a"]?[8] == nil && value["big"]?.integer == nil)
        #expect(value["empty"] == [:] && value["none"] == [] && value["missing"] == nil)
        #expect(value.text == #"{"z":12.50,"a":[1,-7,1e2,-0,true,false,null,"x"],"empty":{},"none":[],"big":9223372036854775808}"#)
    }

    @Test(arguments: [
        (#"a\/b"#, "a/b"), (#"\"\\\""#, #""\""#), (#"\\"#, #"\"#), (#"\b\f\n\r\t"#, "\u{8}\u{c}\n\r\t"), (#"\u00e9"#, "é"),
        (#"\ud83d\ude00!"#, "😀!"), ("ä", "ä"), ("", ""), (#"\\\\\""#, #"\\""#),
    ])
    func `escapes are resolved, in long strings on demand`(spelling: String, text: String) throws {
        #expect(try parse("[\"\(spelling)\",2]") == [.string(text), 2])
        let slice = try parse("[\"\(spelling)\",2]", JSONLimits(maxStringBytes: 0))
        guard !text.isEmpty else { return }
        #expect(slice[0] == .slice(Array(spelling.utf8)[...]) && slice[0]?.string == nil)
        #expect(slice[0]?.withUTF8 { String(decoding: $0, as: UTF8.self) } == text)
        #expect(slice.text == "[\"\(spelling)\",2]")
    }

    @Test(arguments: [
        "", " ", "{", "[", "]", "{]", "[1,]", "[,1]", #"{"a":1,}"#, #"{"a" 1}"#, #"{"a"}"#, #"{"a":}"#, "{a:1}", "01", "-", "--1", "1.",
        ".5", "1e", "+1", "tru", "nul", "NaN", "1e999", "\"\u{01}\"", #""\x""#, #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#,
        #""\u12""#, #""\u+123""#, "\"abc", "\"\\\"", "\"\\", "1 2", "'a'", #"{"a":1 "b":2}"#, "[1 2]", "1\u{FEFF}", "\u{FEFF}\u{FEFF}1",
        "[}", "\u{0}",
        #"{"a":1}}"#,
    ])
    func `a text that is not JSON is refused`(text: String) {
        let error = #expect(throws: JSONError.self) { try parse(text) }
        #expect(error?.code == .malformed)
    }

    @Test func `a repeated name, bytes that are not UTF-8, and what exceeds a limit are refused`() {
        func code(_ text: String, _ limits: JSONLimits = JSONLimits()) -> JSONError.Code? {
            #expect(throws: JSONError.self) { try parse(text, limits) }?.code
        }
        #expect(code(#"{"a":1,"\u0061":2}"#) == .duplicateName)
        let many = (0..<40).map { "\"n\($0)\":0" }.joined(separator: ",")
        #expect(code("{\(many),\"n3\":1}") == .duplicateName && code("{\(many),\"n33\":1}") == .duplicateName)
        #expect(throws: Never.self) { try parse("{\(many)}") }
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
        #expect(code(String(repeating: "[", count: 100_000)) == .limitExceeded)
        #expect(code("[[[]]]", JSONLimits(maxDepth: 2)) == .limitExceeded)
        #expect(throws: Never.self) { try parse("[[]]", JSONLimits(maxDepth: 2)) }
        #expect(code("[1,2,3]", JSONLimits(maxValues: 3)) == .limitExceeded)
        #expect(throws: Never.self) { try parse("[1,2]", JSONLimits(maxValues: 3)) }
    }

    @Test func `of repeated names the first counts where they are allowed`() throws {
        let many = (0..<40).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        let value = try parse("{\"a\":1,\(many),\"\\u0061\":2}", JSONLimits(allowsRepeatedNames: true))
        #expect(value["a"] == 1 && value.members?.count == 42)
        #expect(throws: JSONError.self) { try parse(#"{"a":"\q","a":1}"#, JSONLimits(allowsRepeatedNames: true)) }
    }

    @Test func `a lenient reader accepts faults inside of values, and none of the structure`() throws {
        let lenient = JSONLimits(isLenient: true)
        let value = try parse("{\"a\":\"two\nlines\",\"a\":2,\"bad\\q\":1,\"b\":[1e999,\"\\ud800\",\"c\"]}", lenient)
        #expect(value["a"] == .slice(Array("two\nlines".utf8)[...]))
        #expect(value["b"]?[0] == .number("1e999"))
        #expect(value["b"]?[1]?.string == nil && value["b"]?[2] == "c")
        for text in ["{\"a\":1", "[1,]", "{\"a\" 1}", "01", "\"abc"] {
            #expect(throws: JSONError.self) { try parse(text, lenient) }
        }
    }

    @Test func `a byte order mark before a text is ignored, and a number of any size is one where that is allowed`() throws {
        #expect(try parse("\u{FEFF} [1]") == [1])
        #expect(try parse("[1e999]", JSONLimits(allowsNumbersOutOfRange: true)) == [.number("1e999")])
    }

    @Test func `an error has a position and no contents of the text`() {
        let error = #expect(throws: JSONError.self) { try parse(#"{"password":"hunter2\q"}"#) }
        #expect(error?.description == "malformed: Invalid escape sequence. At byte 22.")
    }

    @Test func `a member is set, replaced and removed in place, and found in either spelling`() {
        var value: JSONValue = ["a": 1, "some_name": "x"]
        value["b"] = "2"
        value["a"] = true
        value["some_name"]?["ignored"] = 1
        #expect(value.text == #"{"a":true,"some_name":"x","b":"2"}"# && value.either("someName") == "x" && value.either("b") == "2")
        value["a"] = nil
        #expect(value == ["some_name": "x", "b": "2"] && value.strings == ["some_name": "x", "b": "2"])
        #expect(JSONValue.members(("a", 1), ("b", nil), ("c", .null)) == ["a": 1, "c": nil])
    }

    @Test func `a writer escapes what JSON must escape, and nothing else`() {
        let value: JSONValue = ["a\"b": "x\\y\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}/é😀", "list": [1, true, nil]]
        #expect(value.text == #"{"a\"b":"x\\y\n\r\t\b\f\u0001\u001f"# + "\u{7f}/é😀" + #"","list":[1,true,null]}"#)
    }

    @Test func `a writer finds what it must escape at every place of a text`() throws {
        for length in 1...20 {
            for place in 0..<length {
                for byte in [0x00, 0x1F, 0x22, 0x5C] as [UInt8] {
                    var bytes = [UInt8](repeating: 0x7E, count: length)
                    bytes[place] = byte
                    let text = JSONValue.string(String(decoding: bytes, as: UTF8.self))
                    #expect(try JSONValue(parsing: text.bytes) == text, "byte \(byte) at \(place) of \(length)")
                }
            }
        }
    }

    @Test func `a writer escapes none of the bytes beside those that it must`() {
        let text = String(repeating: " !#[]\u{7f}\u{80}ä😀", count: 4)
        for start in text.indices { #expect(JSONValue.string(String(text[start...])).text == "\"\(text[start...])\"") }
    }

    @Test func `a writer indents as Google's APIs do`() {
        let value: JSONValue = ["a": ["b": [1, "x"], "c": [], "d": [:]], "e": nil]
        #expect(
            value.prettyText == """
                {
                  "a": {
                    "b": [
                      1,
                      "x"
                    ],
                    "c": [],
                    "d": {}
                  },
                  "e": null
                }

                """)
    }

    @Test func `members are written outside of an object too, and those without a value are left out`() {
        let fragment = JSONWriter.bytes { writer in
            writer.member("a", "x")
            writer.member("none", nil)
            writer.object("b") { $0.member("c", 1) }
            writer.array("d") { writer in
                writer.double(0.5)
                writer.bool(false)
            }
        }
        #expect(String(decoding: fragment, as: UTF8.self) == #""a":"x","b":{"c":1},"d":[0.5,false]"#)
    }
}
