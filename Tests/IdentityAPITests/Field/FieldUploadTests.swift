import HTTPClient
import PostgresClient
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

    @Test(.api, arguments: ["faces[]", "faces[%d]"]) func `files of one field may be numbered in brackets`(name: String) async throws {
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

    @Test(.api) func `a client of HTTP 1.0 gets an answer without chunks, and the end of the connection`() async throws {
        let connection = try RawConnection(port: api.port)
        try await connection.send("GET /openapi.json HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
        let answer = try #require(try await connection.receive(), "the connection is not closed")
        #expect(answer.hasPrefix("HTTP/1.0 200 ") && !answer.lowercased().contains("transfer-encoding"))
        #expect(answer.hasSuffix("}") || answer.hasSuffix("}\n"))
    }

    @Test(.api) func `a preflight where no origin is allowed says what is served`() async throws {
        let headers = [(name: "Origin", value: "https://app.example.org"), (name: "Access-Control-Request-Method", value: "GET")]
        let answer = try await api.send("OPTIONS", "/v1/templates", headers: headers)
        #expect(answer.status == 204 && answer.header("Allow") == "GET, HEAD")
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
        #expect(try await api.send("OPTIONS", "/nothing", headers: headers).status == 404)
    }
}
