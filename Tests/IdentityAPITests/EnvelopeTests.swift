import Accounts
import Foundation
import HTTPClient
import HTTPTypes
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct EnvelopeTests {
    @Test(.api) func `The error envelope is exact to the byte`() async throws {
        let headers = [(name: "X-Request-ID", value: "r-1")]
        let response = try await api.send(Form.signIn().without("email"), to: Path.login, headers: headers)
        let timestamp = try #require(response.json.text("meta.timestamp"))
        #expect(
            response.text == #"{"success":false,"code":1001,"message":"The e-mail address is missing","error":"#
                + #"{"code":"missing_field","field":"email","retryable":false,"retry_after":0},"data":null,"#
                + #""meta":{"requestId":"r-1","timestamp":"\#(timestamp)"}}"#)
        #expect(response.header("X-Request-ID") == "r-1")
        #expect(timestamp.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
    }

    @Test(.api) func `A client that accepts problem details gets them`() async throws {
        let headers = [(name: "X-Request-ID", value: "r-1"), (name: "Accept", value: "application/problem+json")]
        let response = try await api.send(Form.signIn().without("email"), to: Path.login, headers: headers)
        #expect(response.header("Content-Type") == "application/problem+json")
        #expect(
            response.text == #"{"type":"urn:heliograph:error:missing_field","title":"Bad Request","status":400,"#
                + #""detail":"The e-mail address is missing","instance":"urn:heliograph:request:r-1","code":1001,"#
                + #""retryable":false,"retry_after":0,"errors":[{"code":"missing_field","field":"email","#
                + #""detail":"The e-mail address is missing"}]}"#)
    }

    @Test(.api) func `Unknown paths and methods get the error envelope`() async throws {
        for path in ["/v1", "/api/v1/ekyc", "/api/v1/ekyc/sessions", "/favicon.ico"] {
            #expect(try await api.send("GET", path).refusal == "404 not_found")
        }
        let response = try await api.send("GET", Path.signUp)
        #expect(response.refusal == "405 method_not_allowed")
        #expect(response.header("Allow") == "POST")
        #expect(try await api.send("DELETE", Path.session(UUID())).refusal == "405 method_not_allowed")
    }

    @Test(arguments: ["a b", "x\"y", "ä", String(repeating: "a", count: 129)])
    func `A request id that is unsafe in a log line is replaced`(id: String) async throws {
        let made = APIRequestContext.requestID(from: id)
        #expect(UUID(uuidString: made)?.wireString == made)
    }

    @Test(.api) func `A database error gives 500 internal without details`() async throws {
        try await api.postgres.execute("ALTER TABLE sessions ADD CHECK (false) NOT VALID")
        let response = try await api.send(.signIn(), to: Path.login)
        #expect(response.refusal == "500 internal")
        #expect(response.json.text("message") == "Something went wrong on our side")
        #expect(response.json.value("error.retryable") == true)
        #expect(api.storedFiles().isEmpty)
    }

    @Test func `Codes, numbers and statuses are the published ones`() {
        let table = ErrorCode.allCases.map { "\($0.number) \($0.status.code) \($0.rawValue) \($0.isRetryable)" }
        #expect(
            table == [
                "1000 400 invalid_request false", "1001 400 missing_field false", "1002 400 invalid_image false",
                "1003 400 invalid_photo_count false", "1004 400 invalid_email false", "1005 400 template_not_found false",
                "1010 400 invalid_code false", "1011 400 consent_required false",
                "1012 400 challenge_required false", "1013 400 challenge_invalid false", "1114 409 challenge_expired false",
                "1115 409 challenge_used false", "1120 409 retake_unavailable false",
                "1006 413 payload_too_large false", "1007 415 unsupported_media_type false", "1014 408 request_timeout true",
                "1008 404 not_found false",
                "1009 405 method_not_allowed false", "1101 401 unauthorized false", "1102 403 forbidden false",
                "1103 404 session_not_found false", "1104 404 job_not_found false", "1105 404 topic_not_found false",
                "1108 409 already_enrolled false", "1113 409 face_in_use false",
                "1106 409 device_not_registered false", "1107 403 reauthentication_required false",
                "1116 401 use_dpop_nonce false", "1117 401 invalid_dpop_proof false", "1118 401 device_key_required false",
                "1119 403 verification_required false",
                "1201 429 rate_limited true", "1202 429 account_locked false", "1203 409 limit_reached false",
                "1110 409 name_taken false", "1111 404 notification_not_found false", "1112 409 already_sent false",
                "1301 409 request_in_progress true",
                "1302 422 idempotency_key_reused false", "1501 500 internal true", "1502 503 overloaded true", "1503 503 unavailable true",
            ])
    }
}

@Suite struct EmailAddressTests {
    @Test(arguments: [
        ("Some.Body+tag@Example.ORG", "some.body+tag@example.org"), ("  a@b.co\n", "a@b.co"),
        ("JOSE\u{301}@EXAMPLE.ORG", "jos\u{E9}@example.org"), ("x@sub.domain.example", "x@sub.domain.example"),
        ("ö@müller.de", "ö@xn--mller-kva.de"), ("a@EXÄMPLE.de", "a@xn--exmple-cua.de"), ("a@xn--exmple-cua.de", "a@xn--exmple-cua.de"),
        ("\u{202A}\u{200B}a@b.co\u{202C}\u{FEFF} ", "a@b.co"), ("a..b@docomo.ne.jp", "a..b@docomo.ne.jp"),
        ("ada.@docomo.ne.jp", "ada.@docomo.ne.jp"),
        ("o'hara-x_y@example.org", "o'hara-x_y@example.org"),
    ])
    func `Spellings of an address are normalised to one`(typed: String, normalised: String) {
        #expect(EmailAddress(typed)?.normalised.unicodeScalars.elementsEqual(normalised.unicodeScalars) == true)
    }

    @Test(arguments: [
        "", "a", "@b.co", "a@", "a@b", "a@@b.co", "a b@c.de", "a@b c.de", ".a@b.co", "a@-b.co", "a@b\u{200D}c.co", "a\u{200B}b@c.co",
        "a@b-.co", "a@b..co", "a@b.co.", "\"a\"@b.co", "a@[1.2.3.4]", "a\u{0}@b.co", "a\u{202E}@b.co", "a,b@c.de", "a<b>@c.de",
        String(repeating: "a", count: 65) + "@b.co", "a@" + String(repeating: "b", count: 64) + ".co",
        "a@" + Array(repeating: "abcdefghi", count: 26).joined(separator: ".") + ".org",
    ])
    func `Invalid addresses are rejected`(typed: String) {
        #expect(EmailAddress(typed) == nil)
    }
}
