import JSON
import Testing

@testable import IdentityAPI

@Suite struct JSONStreamParserTests {
    @Test func `small members come whole and big texts in pieces, in any order`() throws {
        let parsed = try parseStream(
            #" { "b" : true , "image" : "QUJD\/\u0041\n" , "options":{"width":512,"quality":"high"},"n":-1.5e2 } "#)
        #expect(parsed.texts == ["image": Array("QUJD/A\n".utf8)])
        #expect(parsed.members["b"] == .bool(true))
        #expect(parsed.members["n"] == .number("-1.5e2"))
        #expect(parsed.members["options"] == ["width": 512, "quality": "high"])
    }

    @Test(arguments: [
        #"{"image":"abc","x":[1,2,{"y":"}"}],"z":0}"#, #"{"z":"a\"\\","\u0069mage":"\\\"","e":[]}"#, "{}", "{ }\n", "\u{FEFF}{}",
    ])
    func `a body gives the same events wherever it is split`(text: String) throws {
        let bytes = Array(text.utf8)
        let whole = try parseStream(text)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                #expect(try parseStream(cut(bytes, at: [first, second])) == whole)
            }
        }
    }

    @Test func `an escaped name is the same name`() throws {
        #expect(try parseStream(#"{"im\u0061ge":"x"}"#).texts == ["image": [0x78]])
        #expect(throws: JSONError.self) { try parseStream(#"{"image":"x","im\u0061ge":"y"}"#) }
    }

    @Test func `a streamed member that is null is a small value`() throws {
        #expect(try parseStream(#"{"image":null}"#) == StreamedBody(members: ["image": .null]))
    }

    @Test(arguments: [
        ("", "truncated"), ("{", "truncated"), (#"{"a":1"#, "truncated"), (#"{"image":"abc"#, "truncated"), (#"{"a""#, "truncated"),
        ("[]", "malformed"), ("1", "malformed"), ("{}x", "malformed"), ("{,}", "malformed"), (#"{"a":1,}"#, "malformed"),
        (#"{"a" 1}"#, "malformed"), (#"{"a":}"#, "malformed"), (#"{"a":1 2}"#, "malformed"), (#"{a:1}"#, "malformed"),
        (#"{'a':1}"#, "malformed"), (#"{"a":01}"#, "malformed"), (#"{"a":1.}"#, "malformed"), (#"{"a":.5}"#, "malformed"),
        (#"{"a":+1}"#, "malformed"), (#"{"a":NaN}"#, "malformed"), (#"{"a":1e999}"#, "malformed"), (#"{"a":tru}"#, "malformed"),
        (#"{"a":"\x"}"#, "malformed"), (#"{"a":"\ud800"}"#, "malformed"), (#"{"a":"\u12G4"}"#, "malformed"),
        ("{\"a\":\"\n\"}", "malformed"), ("{\"image\":\"\n\"}", "malformed"), (#"{"image":"\u00e9"}"#, "notASCII"),
        (#"{"image":"\q"}"#, "malformed"), (#"{"a":[1,2}"#, "malformed"), (#"{"a":{"b":1]}"#, "malformed"),
        ("\u{FEFF}\u{FEFF}{}", "malformed"), ("\u{FEFC}{}", "malformed"), (" \u{FEFF}{}", "malformed"),
        (#"{"a":1,"a":2}"#, "duplicateName"), (#"{"a":{"b":1,"b":2}}"#, "duplicateName"), (#"{"image":5}"#, "notString"),
        (#"{"image":["x"]}"#, "notString"),
    ])
    func `a body that is not strictly JSON is refused`(text: String, code: String) {
        let error = #expect(throws: JSONError.self) { try parseStream(text) }
        #expect(error?.code.rawValue == code)
    }

    @Test func `limits apply to names, values, members, blanks and nesting, but not to streamed texts`() throws {
        var limits = JSONStreamLimits()
        (limits.maxNameBytes, limits.maxValueBytes, limits.maxMembers, limits.maxBlankBytes) = (4, 8, 2, 3)
        func code(_ text: String) -> JSONError.Code? {
            do throws(JSONError) {
                _ = try parseStream([Array(text.utf8)], streaming: ["i"], limits: limits)
                return nil
            } catch { return error.code }
        }
        #expect(code(#"{"abcd":"123456","i":"\#(String(repeating: "x", count: 1_000))"}"#) == nil)
        #expect(code(#"{"abcde":1}"#) == .limitExceeded)
        #expect(code(#"{"a":"1234567"}"#) == .limitExceeded)
        #expect(code(#"{"a":1,"b":2,"c":3}"#) == .limitExceeded)
        #expect(code("{    }") == .limitExceeded)
        let deep = String(repeating: "[", count: 18) + String(repeating: "]", count: 18)
        #expect(throws: JSONError.self) { try parseStream(#"{"a":\#(deep)}"#) }
    }

    @Test(arguments: [
        #""\#(String(repeating: "x", count: 40))""#, #"[1,{"b":"]\"}"},[],"\#(String(repeating: "x", count: 40))"]"#, "1e999",
    ])
    func `a member that is not read is skipped, however long it is and wherever the body is split`(value: String) throws {
        var limits = JSONStreamLimits()
        limits.maxValueBytes = 16
        for text in [#"{"other":\#(value),"image":"QUJD","a":1}"#, #"{"a":1,"image":"QUJD","other":\#(value)}"#] {
            let bytes = Array(text.utf8)
            for position in 0...bytes.count {
                let parsed = try parseStream(cut(bytes, at: [position]), reading: ["a"], limits: limits)
                #expect(parsed.texts == ["image": Array("QUJD".utf8)] && parsed.members["a"] == 1)
            }
        }
        #expect(throws: JSONError.self) {
            try parseStream([Array(#"{"a":"\#(String(repeating: "x", count: 40))"}"#.utf8)], reading: ["a"], limits: limits)
        }
    }

    @Test func `an error has no contents of the body`() {
        let error = #expect(throws: JSONError.self) { try parseStream(#"{"password":"hunter2\q"}"#) }
        #expect(error?.description.contains("hunter2") == false && error?.description.contains("password") == false)
    }
}
