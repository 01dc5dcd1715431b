import FoundationEssentials
import HTTPTypes
import JSON
import Testing

@testable import IdentityAPI

/// One value in the spellings of clients of the field: what is harmless is read as it was meant, the rest is refused with its field.
@Suite struct FieldSpellingTests {
    private func refusal(_ body: () throws -> Void) -> String? {
        do { try body() } catch let error as APIError { return "\(error.code.rawValue) \(error.field ?? "-")" } catch { return "\(error)" }
        return nil
    }

    private func body(_ name: String, _ value: JSONValue) -> JSONBody { JSONBody(parsed: [name: value]) }

    @Test(
        arguments: [
            "123456", " 123456\n", "\u{A0}123456\u{200E}", "123 456", "123-456", "123\u{2013}456", "١٢٣٤٥٦", "１２３４５６", 123_456,
        ] as [JSONValue])
    func `a code is read as it was typed or pasted`(value: JSONValue) throws {
        #expect(try EnteredCode(body("code", value)).digits == "123456")
    }

    @Test func `a code that is a number has the zeros that the number lacks`() throws {
        #expect(try EnteredCode(body("code", 1_234)).digits == "001234")
    }

    @Test(arguments: ["12345", "1234567", "abcdef", "12345x", "½23456", 1_234_567, .number("1234.5"), true] as [JSONValue])
    func `what cannot be a code is refused before it is compared`(value: JSONValue) {
        #expect(refusal { _ = try EnteredCode(body("code", value)) } == "invalid_request code")
    }

    @Test(arguments: ["null", "undefined", "None", "nil", "", "\"\"", "\"null\"", " ", "00000000-0000-0000-0000-000000000000"])
    func `a placeholder is not an idempotency key`(value: String) throws {
        var fields = HTTPFields()
        fields[.idempotencyKey] = value
        #expect(try IdempotencyKey.read(fields) == nil)
        fields[.requestID] = "00000000-0000-0000-0000-000000000000"
        #expect(try IdempotencyKey.read(fields) == nil)
        fields[.requestID] = "2F1B9A6C-5C5E-4B0F-9A59-0C4C4D5B8E11"
        #expect(try IdempotencyKey.read(fields) == "2f1b9a6c-5c5e-4b0f-9a59-0c4c4d5b8e11")
    }

    @Test(arguments: [
        ("True", true), ("1", true), ("on", true), ("FALSE", false), ("0", false), ("undefined", nil), ("null", nil), (" ", nil),
    ])
    func `a truth value is read in the spellings of languages and forms`(text: String, value: Bool?) throws {
        #expect(try Flag.read(.string(text), field: "async") == value)
        #expect(refusal { _ = try Flag.read(.string("\(text)?"), field: "async") } == "invalid_request async")
    }

    @Test(arguments: [
        ("de_DE.UTF-8", "de-DE"), ("de-DE-u-ca-buddhist-hc-h12-mu-fahrenhe-rg-chzzzz", "de-DE"), (" pt-BR\n", "pt-BR"),
        ("zh-Hant-TW-x-\(String(repeating: "a", count: 40))", "zh-Hant-TW"), ("\u{200B}", nil),
        ("\(String(repeating: "a", count: 40))", nil),
    ])
    func `a locale is cut to its language`(text: String, locale: String?) throws {
        let device = try DeviceBody.fields.read(
            JSONBody(parsed: [
                "device_token": .string(Form.pushToken), "platform": " IOS", "locale": .string(text), "app_version": .number("1.20"),
            ]))
        #expect(device.locale == locale && device.platform == "ios" && device.appVersion == "1.20")
    }

    @Test(arguments: [
        ("HTTPS://X.org/y", "https://x.org/y"), ("https://exämple.org/ä", nil), ("https://exämple.org/a", "https://xn--exmple-cua.org/a"),
        ("https://x.org:8443/y?z#a", "https://x.org:8443/y?z#a"), ("https://x.org:99999/y", nil), ("https://x.org:0/y", nil),
        ("https://ada@x.org/", nil), ("https:///y", nil), ("http://x.org/", nil), ("https://x.org/a b", nil),
    ])
    func `the address of a picture has one spelling`(text: String, address: String?) {
        #expect((try? PictureAddress(body("image", .string(text))))?.text == address)
    }

    @Test(arguments: [
        ("application/problem+json", true), ("Application/Problem+JSON", true), ("text/html, application/problem+json;q=0.5", true),
        ("application/problem+json;q=0", false), ("application/problem+json; q=0.0", false), ("application/json", false), ("", false),
    ])
    func `a problem is sent to who accepts one`(accept: String, accepts: Bool) {
        var fields = HTTPFields()
        fields[.accept] = accept
        #expect(fields.acceptProblems == accepts)
    }

    @Test(arguments: [
        ("/v1/template%73", "/v1/templates"), ("/v1/images/jobs?%6Cimit=2&c=%2B%zz%7e", "/v1/images/jobs?limit=2&c=%2B%zz~"),
        ("/a%2Fb%", nil),
    ])
    func `a path without needless escapes is the same path`(path: String, decoded: String?) {
        #expect(PathSpelling.decoded(path) == decoded)
    }

    @Test(arguments: [
        ("{", "too early"), (#"{"a":1"#, "too early"), (#"{"a":"b"#, "too early"), (#"{"a":1,"a":2}"#, "twice"), (#"{"a":1,}"#, "key"),
        (#"{"a":"\ud800"}"#, "surrogate"), ("{'a':1}", "key"), ("[]", "object"),
    ])
    func `a body that is no JSON is refused with the reason`(text: String, reason: String) {
        let error = #expect(throws: APIError.self) { try JSONBody(parsing: Array(text.utf8)) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func `a byte order mark and numbers beyond all ranges do no harm`() throws {
        #expect(try JSONBody(parsing: Array("\u{FEFF}{\"a\":\"b\",\"unknown\":1e999}".utf8)).text("a") == "b")
    }
}

extension JSONBody {
    fileprivate init(parsed members: [String: JSONValue]) {
        self = JSONBody(.object(members.map { .init($0.key, $0.value) }))!
    }
}
