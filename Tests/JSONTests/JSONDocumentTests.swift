import JSON
import Testing

@Suite("A document")
struct JSONDocumentTests {
    private func parse(_ text: String, _ limits: JSONLimits = JSONLimits()) throws -> JSONElement {
        try JSONDocument(parsing: Array(text.utf8), limits: limits).root
    }

    @Test func `members are found by name, whatever lies between them`() throws {
        let root = try parse(#"{"a":{"b":[1,{"c":2}]},"long":"x","b":[[],{}],"é":true,"\u0063":null}"#)
        #expect(root["a"]?["b"]?.elements?.last?["c"]?.integer == 2)
        #expect(root["b"]?.elements?.map { $0.elements?.count } == [0, nil])
        #expect(root["é"]?.boolean == true)
        #expect(root["c"]?.isNull == true)
        #expect(root["d"] == nil)
        #expect(root["a"]?["a"] == nil)
    }

    @Test func `of repeated names the first is found`() throws {
        let limits = JSONLimits(allowsRepeatedNames: true)
        #expect(try parse(#"{"a":1,"a":2}"#, limits)["a"]?.integer == 1)
    }

    @Test(arguments: ["plain", #"with \"escapes\" \u00e9"#, "é ✓", String(repeating: "long", count: 100), ""])
    func `a string is read the same as a text and as bytes`(spelling: String) throws {
        let string = try #require(try parse("[\"\(spelling)\"]").elements?.first)
        let value = try JSONValue(parsing: Array("[\"\(spelling)\"]".utf8))
        let text = try #require(string.string)
        #expect(text == value[0]?.string)
        var seen = ""
        #expect(string.withText { seen = String(decoding: $0, as: UTF8.self) })
        #expect(seen == text)
        #expect(string.isText(text) && !string.isText(text + "x"))
    }

    @Test func `a value of another kind is nil`() throws {
        let root = try parse(#"{"text":"1","number":1.5,"whole":3e2,"list":[1]}"#)
        let (text, number, whole, list) = (root["text"], root["number"], root["whole"], root["list"])
        #expect(text?.integer == nil && text?.boolean == nil && text?.elements == nil && text?["a"] == nil)
        #expect(number?.integer == nil && number?.string == nil && whole?.integer == 300)
        #expect(number?.isText("1.5") == false && list?.isText("1") == false)
        #expect(list?["0"] == nil && list?.isObject == false && root.isObject)
    }

    @Test func `a string over the limit is not decoded`() throws {
        let root = try parse(#"{"a":"12345","b":"1234"}"#, JSONLimits(maxStringBytes: 4))
        let long = try #require(root["a"])
        #expect(long.string == nil && !long.isText("12345"))
        #expect(!long.withText { _ in Issue.record("it was called") })
        #expect(root["b"]?.string == "1234")
    }

    @Test func `members are visited in their order`() throws {
        var names: [String] = []
        try parse(#"{"b":1,"\u0061":[1,2],"c":{}}"#).forEachMember { name, _ in names.append(name) }
        #expect(names == ["b", "a", "c"])
    }
}
