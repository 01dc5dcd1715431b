import FCMEmulator
import HTTPClient
import JSON
import Testing

/// A body that FCM refuses, with the expected error. `TOKEN` is replaced by a live token.
struct Refusal: Sendable, CustomTestStringConvertible {
    let name: String
    let message: String
    var status = 400
    var canonical = "INVALID_ARGUMENT"
    let text: String
    let details: [String]
    var field: String?

    var testDescription: String { name }

    /// The table of reference envelopes, including the order of the details, because some clients depend on it.
    static let all: [Refusal] = [
        Refusal(
            name: "bad token", message: #""token":"not a token""#,
            text: "The registration token is not a valid FCM registration token", details: ["FcmError", "BadRequest"],
            field: "message.token"),
        Refusal(
            name: "empty token", message: #""token":"""#,
            text: "The registration token is not a valid FCM registration token", details: ["FcmError", "BadRequest"],
            field: "message.token"),
        Refusal(
            name: "bad installation id", message: #""fid":"xyz""#,
            text: "The registration token is not a valid FCM registration token", details: ["FcmError", "BadRequest"],
            field: "message.fid"),
        Refusal(
            name: "no target", message: #""data":{"a":"b"}"#, text: "Recipient of the message is not set.",
            details: ["BadRequest", "FcmError"], field: "message"),
        Refusal(
            name: "bad topic", message: #""topic":"a b""#, text: "Topic name contains invalid characters.",
            details: ["BadRequest", "FcmError"], field: "message"),
        Refusal(
            name: "bad condition", message: #""condition":"'a' in topics &&""#,
            text: "Request contains an invalid argument.", details: []),
        Refusal(
            name: "too big", message: #""token":"TOKEN","data":{"k":""# + String(repeating: "x", count: 4096) + #""}"#,
            text: "Message is too large. The maximum is 4K (4096 bytes).", details: ["BadRequest", "FcmError"]),
        Refusal(
            name: "web push TTL", message: #""token":"TOKEN","webpush":{"headers":{"TTL":"-1"}}"#,
            text: "TTL must be a non-negative integer.", details: ["BadRequest", "FcmError"],
            field: "message.webpush.headers.TTL"),
        Refusal(
            name: "data that is no string", message: #""token":"TOKEN","data":{"a":"b","n":12}"#,
            text: "Invalid value at 'message.data[1].value' (TYPE_STRING), 12", details: ["BadRequest"],
            field: "message.data[1].value"),
        Refusal(
            name: "channel that is no string", message: #""token":"TOKEN","android":{"notification":{"channel_id":7}}"#,
            text: "Invalid value at 'message.android.notification.channel_id' (TYPE_STRING), 7", details: ["BadRequest"],
            field: "message.android.notification.channel_id"),
        Refusal(
            name: "unknown field", message: #""token":"TOKEN","x":1"#,
            text: #"Invalid JSON payload received. Unknown name "x" at 'message': Cannot find field."#,
            details: ["BadRequest"], field: "message"),
        Refusal(
            name: "two targets", message: #""token":"TOKEN","topic":"t""#,
            text: "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'topic'",
            details: ["BadRequest"], field: "message"),
        Refusal(
            name: "unknown enumeration value", message: #""token":"TOKEN","android":{"priority":"URGENT"}"#,
            text: "Invalid value at 'message.android.priority' "
                + #"(type.googleapis.com/google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority), "URGENT""#,
            details: ["BadRequest"], field: "message.android.priority"),
        Refusal(
            name: "time to live without unit", message: #""token":"TOKEN","android":{"ttl":"60"}"#,
            text: "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), "
                + "Illegal duration format; duration must end with 's'",
            details: ["BadRequest"], field: "message.android.ttl"),
        Refusal(
            name: "dead token", message: #""token":"c123456789012345678901:APA91b"# + String(repeating: "x", count: 113) + #"""#,
            status: 404, canonical: "NOT_FOUND", text: "Requested entity was not found.", details: ["FcmError"]),
    ]

    /// Bodies that break a documented rule whose envelope was not captured: only the field is asserted.
    static let rules: [(message: String, field: String)] = [
        (#""data":{"from":"x"}"#, "message.data"), (#""data":{"google.x":"x"}"#, "message.data"),
        (#""data":{"gcm.notification.x":"x"}"#, "message.data"), (#""data":{"message_type":"x"}"#, "message.data"),
        (#""android":{"data":{"from":"x"}}"#, "message.android.data"),
        (#""android":{"ttl":"2419201s"}"#, "message.android.ttl"),
        (#""android":{"notification":{"color":"red"}}"#, "message.android.notification.color"),
        (#""android":{"notification":{"titleLocArgs":["a"]}}"#, "message.android.notification.title_loc_args"),
        (#""notification":{"image":"ftp://x/y.png"}"#, "message.notification.image"),
        (#""fcm_options":{"analytics_label":"a b"}"#, "message.fcm_options.analytics_label"),
        (#""webpush":{"fcm_options":{"link":"http://x"}}"#, "message.webpush.fcm_options.link"),
        (#""apns":{"headers":{"apns-priority":"7"}}"#, "message.apns.headers.apns-priority"),
        (#""apns":{"headers":{"apns-push-type":"loud"}}"#, "message.apns.headers.apns-push-type"),
        (
            #""apns":{"headers":{"apns-collapse-id":""# + String(repeating: "i", count: 65) + #""}}"#,
            "message.apns.headers.apns-collapse-id"
        ),
        (
            #""apns":{"headers":{"apns-push-type":"background","apns-priority":"10"}}"#,
            "message.apns.headers.apns-priority"
        ),
        (#""apns":{"payload":{"aps":{"badge":"1"}}}"#, "message.apns.payload.aps.badge"),
        (#""apns":{"payload":{"aps":{"badge":-1}}}"#, "message.apns.payload.aps.badge"),
        (#""apns":{"payload":{"aps":{"alert":7}}}"#, "message.apns.payload.aps.alert"),
        (#""apns":{"payload":{"aps":{"sound":true}}}"#, "message.apns.payload.aps.sound"),
        (#""apns":{"payload":{"aps":{"content-available":true}}}"#, "message.apns.payload.aps.content-available"),
        (#""apns":{"payload":{"aps":{"category":1}}}"#, "message.apns.payload.aps.category"),
        (#""apns":{"payload":{"aps":"x"}}"#, "message.apns.payload.aps"),
        (#""apns":{"fcm_options":{"image":"not a url"}}"#, "message.apns.fcm_options.image"),
    ]
}

@Suite struct SendTests {
    private var fixture: Fixture { .current }

    @Test(.emulator, arguments: Refusal.all)
    func `a bad message is refused with FCM's error`(_ refusal: Refusal) async throws {
        let token = fixture.emulator.mintToken()
        let body = #"{"message":{"# + refusal.message.replacing("TOKEN", with: token) + "}}"
        let answer = try await fixture.send(body)
        #expect(answer.status == refusal.status)
        #expect(answer.json["error"]?["code"]?.integer == refusal.status)
        #expect(answer.json["error"]?["status"]?.string == refusal.canonical)
        #expect(answer.json["error"]?["message"]?.string == refusal.text)
        #expect(answer.details == refusal.details)
        #expect(answer.field == refusal.field)
        #expect(answer.response.httpVersion == .http2)
        #expect(await fixture.emulator.messages().isEmpty)
    }

    @Test(.emulator) func `a message that breaks a documented rule is refused with the field`() async throws {
        let token = fixture.emulator.mintToken()
        for rule in Refusal.rules {
            let answer = try await fixture.send(#"{"message":{"token":"\#(token)",\#(rule.message)}}"#)
            #expect(answer.status == 400, "\(rule.message)")
            #expect(answer.field == rule.field)
            #expect(answer.errorCode == "INVALID_ARGUMENT")
        }
    }

    @Test(.emulator) func `every fault of a body is listed`() async throws {
        let answer = try await fixture.send(#"{"message":{"topic":"t","x":1,"data":{"a":true}},"y":2}"#)
        let violations = answer.json["error"]?["details"]?[0]?["fieldViolations"]?.elements
        #expect(violations?.count == 3)
        let last = #"Invalid JSON payload received. Unknown name "y": Cannot find field."#
        #expect(violations?.last?["description"]?.string == last)
    }

    @Test(.emulator, arguments: ["", "{", "null", "[]", "\"x\"", "{}", #"{"message":null}"#])
    func `a body that is not a request is refused`(_ body: String) async throws {
        #expect(try await fixture.send(body).status == 400)
    }

    @Test(.emulator { $0.limits.bodyBytes = 1000 }) func `a body over the limit is refused`() async throws {
        let answer = try await fixture.send(String(repeating: " ", count: 1001))
        #expect(answer.json["error"]?["message"]?.string == "Request payload size exceeds the limit: 1000 bytes.")
    }

    @Test(.emulator) func `both spellings of field names are accepted, and kept in snake_case`() async throws {
        let token = fixture.emulator.mintToken(platform: .android)
        let camel =
            #"{"token":"\#(token)","android":{"collapseKey":"a","notification":{"channelId":"c"}},"#
            + #""fcmOptions":{"analyticsLabel":"e"}}"#
        let snake =
            #"{"token":"\#(token)","android":{"collapse_key":"a","notification":{"channel_id":"c"}},"#
            + #""fcm_options":{"analytics_label":"e"}}"#
        for body in [#"{"message":\#(camel),"validateOnly":false}"#, #"{"message":\#(snake),"validate_only":false}"#] {
            #expect(try await fixture.send(body).status == 200)
        }
        let messages = await fixture.emulator.messages()
        #expect(messages.map { $0.message.text } == [snake, snake])
    }

    @Test(.emulator) func `a message to a token is accepted under a name of the project`() async throws {
        let token = fixture.emulator.mintToken()
        let answer = try await fixture.send(#"{"message":{"token":"\#(token)","data":{"a":"b"}}}"#)
        #expect(answer.status == 200)
        let name = try #require(answer.json["name"]?.string)
        #expect(name.wholeMatch(of: /projects\/heliograph-dev\/messages\/\d{16,}/) != nil)
        #expect(await fixture.emulator.messages(to: token).map(\.name) == [name])
    }

    @Test(.emulator) func `an Android token's message has a name with a colon and a percent sign`() async throws {
        let token = fixture.emulator.mintToken(platform: .android)
        let name = try await fixture.send(to: token).json["name"]?.string ?? ""
        #expect(name.wholeMatch(of: /projects\/heliograph-dev\/messages\/0:\d{16}%[0-9a-f]{16}/) != nil)
    }

    @Test(
        .emulator,
        arguments: [
            #""topic":"event.5~a%b-c_d""#, #""condition":"'a' in topics && ('b' in topics || !('c' in topics))""#, #""fid":"FID""#,
        ])
    func `topics, conditions and installation ids are targets too`(_ target: String) async throws {
        let fid = fixture.emulator.mintFID()
        let answer = try await fixture.send(#"{"message":{\#(target.replacing("FID", with: fid))}}"#)
        #expect(answer.status == 200)
    }

    @Test(
        .emulator,
        arguments: [
            "'a' in topics'", "a in topics", "'a' in topics ||", "('a' in topics", "'a' 'b'", "'a b' in topics",
            "'a' in topics && 'b' in topics && 'c' in topics && 'd' in topics && 'e' in topics && 'f' in topics",
        ])
    func `a malformed condition is refused`(_ condition: String) async throws {
        let body = #"{"message":{"condition":"\#(condition)"}}"#
        #expect(try await fixture.send(body).status == 400)
    }

    @Test(.emulator) func `a request with validate_only is answered like a real one, and delivers nothing`() async throws {
        let token = fixture.emulator.mintToken()
        let answer = try await fixture.send(to: token, validateOnly: true)
        #expect(answer.status == 200 && answer.json["name"]?.string != nil)
        #expect(await fixture.emulator.messages().isEmpty)
        fixture.emulator.deleteToken(token)
        #expect(try await fixture.send(to: token, validateOnly: true).status == 404)
    }

    @Test(.emulator) func `a token of another project is a mismatch`() async throws {
        let token = fixture.emulator.mintToken(project: "somebody-else")
        let answer = try await fixture.send(to: token)
        #expect(answer.status == 403 && answer.errorCode == "SENDER_ID_MISMATCH")
    }

    private static let largeTopicMessage =
        #"{"message":{"topic":"t","data":{"k":"# + "\"" + String(repeating: "x", count: 2048) + "\"}}}"

    @Test(.emulator) func `a message to a topic has half the size limit`() async throws {
        #expect(try await fixture.send(Self.largeTopicMessage).status == 400)
    }

    @Test(.emulator { $0.sizeLimit = .observed }) func `a message to a topic may be as large as any was seen`() async throws {
        #expect(try await fixture.send(Self.largeTopicMessage).status == 200)
    }

    @Test(.emulator { $0.unregisterLagSends = 1 }) func `a deleted token still accepts a configured number of sends`() async throws {
        let token = fixture.emulator.mintToken()
        fixture.emulator.deleteToken(token)
        #expect(try await fixture.send(to: token).status == 200)
        #expect(try await fixture.send(to: token).status == 404)
    }

    @Test(.emulator) func `an unknown path is answered by a page, not an envelope`() async throws {
        let answer = try await fixture.call("POST", "/fcm/send", "{}")
        #expect(answer.status == 404 && answer.text.hasPrefix("<!DOCTYPE html>"))
    }
}
