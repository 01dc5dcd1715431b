import JSON
import Testing

@testable import FCMEmulator

/// Tests that the fast path of a fan-out never accepts a request that the parser refuses, or reads it differently.
@Suite struct TemplateTests {
    private let first = "c" + String(repeating: "1", count: 21) + ":APA91b" + String(repeating: "a", count: 113)
    private let second = "d" + String(repeating: "2", count: 21) + ":APA91b" + String(repeating: "b", count: 140)

    private func template(of text: String) throws -> MessageTemplate {
        let bytes = Array(text.utf8)
        return MessageTemplate(bytes, try MessageValidator(sizeLimit: .documented).validate(bytes))
    }

    @Test func `a request to another token is recognised, and reads as if it had been parsed`() throws {
        let text = { (token: String) in
            #"{"message":{"data":{"token":"x","n":"1"},"token":"\#(token)","notification":{"title":"t"}}}"#
        }
        let template = try template(of: text(first))
        let bytes = Array(text(second).utf8)
        #expect(template.target(of: bytes) == .token(second))
        #expect(template.message(to: second) == (try? JSONValue(parsing: bytes))?["message"])
    }

    @Test func `an installation id is recognised as one`() throws {
        let (one, other) = ("c" + String(repeating: "1", count: 21), "e" + String(repeating: "3", count: 21))
        let template = try template(of: #"{"message":{"fid":"\#(one)"}}"#)
        #expect(template.target(of: Array(#"{"message":{"fid":"\#(other)"}}"#.utf8)) == .fid(other))
        #expect(template.target(of: Array(#"{"message":{"fid":"\#(first)"}}"#.utf8)) == nil, "a token is no installation id")
    }

    @Test func `a difference anywhere else is not overlooked`() throws {
        let template = try template(of: #"{"message":{"token":"\#(first)","data":{"a":"b"}}}"#)
        for other in [
            #"{"message":{"token":"\#(second)","data":{"a":"c"}}}"#, #"{"message":{"token":"\#(second)","data":{"a":"b"}}} "#,
            #"{"message":{"fid":"\#(second)","data":{"a":"b"}}}"#, #"{"message":{"token":"","data":{"a":"b"}}}"#,
            #"{"message":{"token":"\#(second)","topic":"t","data":{"a":"b"}}}"#,
            #"{"message":{"token":"not a token","data":{"a":"b"}}}"#, #"{"message":{"token":"","#, "",
        ] {
            #expect(template.target(of: Array(other.utf8)) == nil, "\(other)")
        }
    }

    @Test func `a text with an ambiguous registration is never a template`() throws {
        let escaped = first.replacing("c1", with: #"\u00631"#, maxReplacements: 1)
        for text in [
            #"{"message":{"token":"\#(escaped)","data":{"token":"\#(first)"}}}"#,
            #"{"message":{"token":"x","token":"\#(first)"}}"#,
            #"{"message":{"token":"\#(second)"},"message":{"token":"\#(first)"}}"#, #"{"message":{"topic":"t"}}"#,
        ] {
            guard let template = try? template(of: text) else { continue }
            #expect(!template.isSpliced, "\(text)")
            #expect(template.message(to: first) == (try? JSONValue(parsing: Array(text.utf8)))?["message"])
        }
    }
}
