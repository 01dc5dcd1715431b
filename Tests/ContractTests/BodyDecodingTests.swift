import Foundation
import Push
import Testing
import WireFormat

/// Bodies are decoded by this module, and the apps' by Foundation: the two have to agree on what is a body and what it says.
@Suite("Decoding a body")
struct BodyDecodingTests {
    private static let id = "0195f3a0-1b2c-7d3e-8f40-5162738495a6"

    private func decode<Body: Event>(_ type: Body.Type, _ body: [UInt8]) throws -> Body {
        let encoded = try EncodedEnvelope(id: UUID(), type: type.type, version: 1, key: "k", occurredAt: Date(), body: body)
        return try encoded.decode(type).body
    }

    private static let content = #"{"job_id":"\#(id)","reason":"r"}"#

    private func requested(dedupeKey: String = "\"k\"", content: String = content, more: String = "") -> String {
        """
        {"notification_id":"\(Self.id)","dedupe_key":\(dedupeKey),"kind":"job_failed","recipient":{"type":"user","id":"u"},
        "lane":"normal","content":\(content),"expires_at":5\(more)}
        """
    }

    /// Expects the same body as Foundation's, or a refusal by both.
    private func expectAgreement(onRequest text: String) { expectAgreement(onRequest: Array(text.utf8)) }

    private func expectAgreement(onRequest bytes: [UInt8]) {
        let foundation = try? JSONDecoder().decode(FoundationRequest.self, from: Data(bytes))
        #expect((try? decode(NotificationRequested.self, bytes)).flatMap(FoundationRequest.init) == foundation)
    }

    @Test(arguments: [
        #""""#, #""é ✓ 👩‍👩‍👧""#, #""\u00e9\ud83d\ude00""#, #""\"\\\/\b\f\n\r\t""#, #""\ud83d""#, #""\ude00\ud83d""#, #""\u12""#, #""\x""#,
        "\"a\nb\"",
        "\"open", "7", "true", "null", "[]", "{}",
    ])
    func `agrees with Foundation on a text`(text: String) {
        expectAgreement(onRequest: requested(dedupeKey: text))
        expectAgreement(onRequest: requested(content: #"{"reason":\#(text),"job_id":"\#(Self.id)"}"#))
    }

    @Test(arguments: [
        "0", "12", "1.0", "1e3", "120e-1", "-0", "1.5", "01", "+1", "-", "1.", ".5", "1e", "0x1", "99999999999999999999", "\"1\"", "null",
    ])
    func `agrees with Foundation on a number`(number: String) {
        let body = Array("{\"job_id\":\"\(Self.id)\",\"state\":\"processing\",\"percent\":\(number)}".utf8)
        let foundation = try? JSONDecoder().decode(FoundationProgress.self, from: Data(body))
        #expect((try? decode(ImageProgress.self, body)).map(FoundationProgress.init) == foundation)
    }

    @Test(arguments: [
        "{}", "{ID}", #"{ID,"reason":"1","b":"2"}"#, #"{ID,"reason":"1","reason":"2"}"#, #"{ID,"\u0072eason":"1"}"#, #"{ID,"reason":1}"#,
        #"{ID,"reason":null}"#, #"{ ID , "reason" : "1" }"#, #"{ID,reason:"1"}"#, #"{ID,"reason":"1""#, "[]", "null", "",
    ])
    func `agrees with Foundation on an object`(object: String) {
        expectAgreement(onRequest: requested(content: object.replacing("ID", with: #""job_id":"\#(Self.id)""#)))
    }

    @Test(arguments: [
        "", ",\"x\":null", ",\"x\":[1,[2,{\"y\":[]}],true,false]", ",\"x\":tru", ",\"lane\":\"bulk\"",
        ",\"x\":{\"dedupe_key\":\"other\"}",
    ])
    func `agrees with Foundation on what it ignores`(more: String) {
        expectAgreement(onRequest: requested(more: more))
    }

    @Test func `reads lists with and without their optional parts`() throws {
        let settled = NotificationSettled(
            notificationID: UUID(),
            outcomes: [
                SettledDelivery(
                    deliveryID: UUID(), installationID: UUID(), outcome: .dead, sentAt: Date(millisecondsSince1970: 1_761_559_200_125)),
                SettledDelivery(deliveryID: UUID(), installationID: UUID(), outcome: .failed, code: "UNAVAILABLE"),
            ])
        let read: Envelope<NotificationSettled> = try Envelope(settled).encoded().decode()
        #expect(read.body == settled)
    }

    @Test func `names the element of a list that is not valid`() throws {
        let body = "{\"notification_id\":\"\(Self.id)\",\"outcomes\":[{\"delivery_id\":\"\(Self.id)\"}]}"
        #expect { try decode(NotificationSettled.self, Array(body.utf8)) } throws: {
            ($0 as? WireFormatError)?.message.contains("field outcomes.0.installation_id is missing") == true
        }
    }

    @Test(arguments: [
        (#"{"job_id":"j","reason":"r"}"#, "field content.job_id is not a UUID"), ("{}", "field content.job_id is missing"),
        (#"{"job_id":"\#(id)","reason":null}"#, "field content.reason is null"), ("[]", "field content is not an object"),
    ])
    func `names the member of the content that is not valid`(content: String, says: String) {
        #expect { try decode(NotificationRequested.self, Array(requested(content: content).utf8)) } throws: {
            ($0 as? WireFormatError)?.message.hasSuffix(says) == true
        }
    }

    @Test(arguments: ["", #","reason":null"#])
    func `reads an optional part that is absent or null as nil`(part: String) throws {
        let body = "{\"session_id\":\"\(Self.id)\",\"event\":\"sign_in\",\"succeeded\":true\(part)}"
        #expect(try decode(EkycCompleted.self, Array(body.utf8)).reason == nil)
    }

    @Test(arguments: [#","x":[1,]"#, #","x":{"a":1,}"#, ","])
    func `refuses a comma behind the last part, which Foundation takes and RFC 8259 does not`(more: String) {
        #expect(throws: WireFormatError.self) { try decode(NotificationRequested.self, Array(requested(more: more).utf8)) }
    }

    @Test func `refuses bytes that are not UTF-8`() {
        let bytes = Array(requested(dedupeKey: "\"?\"").utf8).map { $0 == UInt8(ascii: "?") ? 0xFF : $0 }
        expectAgreement(onRequest: bytes)
        #expect(throws: WireFormatError.self) { try decode(NotificationRequested.self, bytes) }
    }

    @Test func `refuses a body that is nested without end`() {
        let nested = requested(more: ",\"x\":" + String(repeating: "[", count: 20_000))
        #expect(throws: WireFormatError.self) { try decode(NotificationRequested.self, Array(nested.utf8)) }
    }
}
