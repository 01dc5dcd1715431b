import Accounts
import Foundation
import HTTPClient
import PostgresClient
import TestSupport
import Testing

@testable import IdentityAPI

/// Forms and requests as clients of the field send them.
@Suite struct FieldUploadTests {
    @Test(.api) func `an empty part for an optional file counts as absent`() async throws {
        var form = Form.signUp()
        for _ in 0..<3 { form.parts.append((ChallengeGate.photosField, "", [])) }
        #expect(try await api.send(form, to: Path.signUp).status == 200)
    }

    @Test(.api) func `an empty part for a required file is a missing one`() async throws {
        var form = Form.signIn().without("faces")
        for _ in 0..<3 { form.parts.append(("faces", "", [])) }
        #expect(try await api.send(form, to: Path.login).refusal == "400 missing_field faces")
    }

    @Test(.api, arguments: ["faces[]", "faces[%d]", "faces.%d", "faces%d"]) func `files of one field may be numbered`(name: String)
        async throws
    {
        var form = Form.signIn()
        for (number, index) in form.parts.indices.filter({ form.parts[$0].name == "faces" }).enumerated() {
            form.parts[index].name = name.replacing("%d", with: "\(number)")
        }
        #expect(try await api.send(form, to: Path.login).status == 200)
    }

    @Test(.api, arguments: ["*****", "a\"b<c>", String(repeating: "-", count: 120)])
    func `a boundary may have any printable characters`(boundary: String) async throws {
        var form = Form.signIn()
        form.boundary = boundary
        form.declaredBoundary = boundary.contains("\"") ? "\"\(boundary.replacing("\"", with: "\\\""))\"" : boundary
        #expect(try await api.send(form, to: Path.login).status == 200)
    }

    @Test(.api, arguments: ["gzip", "br", "deflate"]) func `a compressed body is refused with what is taken`(coding: String) async throws {
        let headers = [("Content-Type", "application/json"), (name: "Content-Encoding", value: coding)]
        let answer = try await api.send("POST", "/v1/auth/register", headers: headers, body: [0x1F, 0x8B])
        #expect(answer.refusal == "415 unsupported_media_type")
        #expect(answer.header("Accept-Encoding") == "identity")
    }

    @Test(.api, arguments: ["identity", "utf-8", "none", "null", "UTF-8, identity", " "])
    func `a Content-Encoding that encodes nothing is accepted`(coding: String) async throws {
        let headers = [("Content-Type", "application/json"), (name: "Content-Encoding", value: coding)]
        #expect(
            try await api.send("POST", "/v1/auth/register", headers: headers, body: Array("{}".utf8)).refusal == "400 missing_field email")
    }

    @Test(.api) func `a request without a body has no coding, and one in another transfer coding is refused`() async throws {
        #expect(try await api.send("GET", "/v1/templates", headers: [("Content-Encoding", "gzip")]).status == 200)
        let connection = try RawConnection(port: api.port)
        try await connection.send(
            "POST /v1/auth/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
                + "0\r\n\r\n")
        #expect(try #require(try await connection.receive(until: "\"meta\"")).hasPrefix("HTTP/1.1 501 "))
    }

    @Test(.api, arguments: ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"])
    func `a body whose rest is lost can be sent again`(rest: String) async throws {
        let connection = try RawConnection(port: api.port)
        try await connection.send("POST /v1/auth/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\(rest)")
        if !rest.contains("chunked") { connection.finishSending() }
        let answer = try #require(try await connection.receive(until: "\"meta\""))
        #expect(answer.hasPrefix("HTTP/1.1 408 ") && answer.contains("\"retryable\":true"))
        #expect(answer.lowercased().contains("connection: close"))
    }

    @Test(.api) func `a boundary that is not the body's is named as the reason`() async throws {
        var form = Form.signIn()
        form.declaredBoundary = "another"
        let answer = try await api.send(form, to: Path.login)
        #expect(answer.refusal == "400 invalid_request" && answer.json.text("message")?.contains("boundary") == true)
    }

    @Test(.api) func `a picture in any spelling of base64 is taken`() async throws {
        let (ada, picture) = (try await api.customer(), Data(TestPhoto.jpeg()).base64EncodedString())
        let safe = picture.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        for text in [safe, " \(picture)", "data:image/jpeg; base64, \(picture)", "\(picture.prefix(10))\\t \(picture.dropFirst(10))"] {
            let order = Order(picture: nil).with("\"image_base64\":\"\(text)\"")
            #expect(try await api.order(order, by: ada).status == 202, "\(text.prefix(40))")
        }
    }

    @Test(.api) func `a form of an order leaves optional values out in every spelling`() async throws {
        let ada = try await api.customer()
        for (options, isAsync) in [("undefined", "True"), ("null", "undefined"), (" ", "1"), ("{}", "null")] {
            var form = Order().form
            form.text("options", options)
            form.text("async", isAsync)
            #expect(try await api.send(form, to: Order.path, headers: [ada.bearer]).status == 202, "\(options) \(isAsync)")
        }
    }

    @Test(.api) func `a body that names another phone in its own way does not unregister the sender's`() async throws {
        let ada = try await api.customer()
        for (body, status) in [("device_token=\(Form.pushToken(of: 7))", 204), (#"{"device_token":"x",}"#, 400)] {
            _ = try await api.register(Form.pushToken, by: ada)
            #expect(try await api.unregister(body, by: ada).status == status, "\(body)")
            #expect(try await api.installs().count == 1, "\(body)")
        }
        #expect(try await api.unregister("device_token=\(Form.pushToken)", by: ada).status == 204)
        #expect(try await api.installs().isEmpty)
    }

    @Test(.apiWithMail) func `a malformed code costs no attempt`() async throws {
        let begun = try await api.post("/v1/auth/register", #"{"email":"new@example.org","display_name":"\u200b"}"#)
        let id = try #require(begun.json.text("data.verification_id"))
        for code in ["12345", "abcdef"] {
            let answer = try await api.post("/v1/auth/verify", #"{"verification_id":"\#(id)","code":"\#(code)"}"#)
            #expect(answer.refusal == "400 invalid_request code")
        }
        let rows = try await api.postgres.query("SELECT attempts_left FROM email_verifications")
        #expect(try rows.column("attempts_left", as: Int32.self) == [Int32(EmailVerificationRepository.maxAttempts)])
    }

    @Test(.api) func `a client of HTTP 1.0 gets an answer without chunks, and the end of the connection`() async throws {
        let connection = try RawConnection(port: api.port)
        try await connection.send("GET /openapi.json HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
        let answer = try #require(try await connection.receive(), "the connection is not closed")
        #expect(answer.hasPrefix("HTTP/1.0 200 ") && !answer.lowercased().contains("transfer-encoding"))
        #expect(answer.hasSuffix("}") || answer.hasSuffix("}\n"))
    }

    @Test(.api) func `a path and a query with needless escapes are served`() async throws {
        let connection = try RawConnection(port: api.port)
        try await connection.send("GET /v1/template%73?a=%7e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(try #require(try await connection.receive()).hasPrefix("HTTP/1.1 200 "))
        let ada = try await api.customer()
        #expect(try await api.get("/v1/images/jobs?%6Cimit=0", by: ada).refusal == "400 invalid_request limit")
    }

    @Test(.api) func `a preflight where no origin is allowed says what is served`() async throws {
        let headers = [(name: "Origin", value: "https://app.example.org"), (name: "Access-Control-Request-Method", value: "GET")]
        let answer = try await api.send("OPTIONS", "/v1/templates", headers: headers)
        #expect(answer.status == 204 && answer.header("Allow") == "GET, HEAD")
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
        #expect(try await api.send("OPTIONS", "/nothing", headers: headers).status == 404)
    }
}
