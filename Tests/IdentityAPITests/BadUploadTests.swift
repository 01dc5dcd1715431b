import Foundation
import HTTPClient
import JSON
import NIOCore
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct BadUploadTests {
    private static let textFile = Array("This is not a picture, whatever its name says.".utf8)
    private static let cutJPEG = Array(TestPhoto.jpeg().prefix(30))
    private static let manyPhotos = Form.signUp().without("front_faces").adding("front_faces", 4)

    private static let badForms: [(path: String, form: Form, expected: String)] = [
        // Wrong counts, missing and surplus parts.
        (Path.signUp, Form.signUp().without("left_faces"), "400 missing_field left_faces"),
        (Path.signUp, Form.signUp().without("front_faces"), "400 missing_field front_faces"),
        (Path.signUp, Form.signUp().without("right_faces").adding("right_faces", 2), "400 invalid_photo_count right_faces"),
        (Path.signUp, manyPhotos, "400 invalid_photo_count front_faces"),
        (Path.login, Form.signIn().without("faces"), "400 missing_field faces"),
        (Path.login, Form.signIn().adding("faces", 1), "400 invalid_photo_count faces"),
        (Path.login, Form.signIn().without("email"), "400 missing_field email"),
        // Fields.
        (Path.signUp, Form.signUp(email: nil), "401 unauthorized"),
        (Path.signUp, Form.signUp(email: "not-an-address"), "400 invalid_email email"),
        (Path.login, Form.signIn(email: "a@b@example.org"), "400 invalid_email email"),
        (Path.login, Form.signIn(email: String(repeating: "a", count: 300) + "@example.org"), "400 invalid_email email"),
        (Path.login, Form.signIn().with("fcm_token", "with space"), "400 invalid_request fcm_token"),
        (Path.login, Form.signIn().with("fcm_token", "ü"), "400 invalid_request fcm_token"),
        (Path.login, Form.signIn().with("fcm_token", String(repeating: "a", count: 4_097)), "413 payload_too_large fcm_token"),
        // Pictures.
        (Path.signUp, Form.signUp().withLastPhoto(textFile), "400 invalid_image front_faces"),
        (Path.signUp, Form.signUp().withLastPhoto([]), "400 invalid_photo_count front_faces"),
        (Path.signUp, Form.signUp().withLastPhoto(cutJPEG), "400 invalid_image front_faces"),
        (Path.login, Form.signIn().withLastPhoto(TestPhoto.png(width: 20_000, height: 20_000)), "400 invalid_image faces"),
        (Path.login, Form.signIn().withLastPhoto(TestPhoto.jpeg(width: 9_000, height: 9_000)), "400 invalid_image faces"),
    ]

    @Test(.api) func `Bad input gets its exact error, and leaves nothing`() async throws {
        for (number, (path, form, expected)) in Self.badForms.enumerated() {
            let response = try await api.send(form, to: path)
            #expect(response.refusal == expected, "case \(number)")
            #expect(response.json.value("success") == false, "case \(number)")
            #expect(response.header("X-Session-Token") == nil, "case \(number)")
            #expect(try await api.isUntouched(), "case \(number)")
        }
    }

    private static let badTypes: [(contentType: String, expected: String)] = [
        ("application/json", "415 unsupported_media_type"), ("multipart/mixed; boundary=x", "415 unsupported_media_type"),
        ("multipart/form-data", "400 invalid_request"), ("multipart/form-data; boundary=another", "400 invalid_request"),
        ("multipart/form-data; boundary=\"a@b\"", "400 invalid_request"),
    ]

    @Test(.api) func `A body that is not the multipart it claims to be is refused`() async throws {
        for (contentType, expected) in Self.badTypes {
            let body = Form.signUp().bytes
            let response = try await api.send("POST", Path.signUp, headers: [("Content-Type", contentType)], body: body)
            #expect(response.refusal == expected, "\(contentType)")
            #expect(try await api.isUntouched(), "\(contentType)")
        }
    }

    @Test(.api) func `A field that is given twice, or is not UTF-8, is refused`() async throws {
        var twice = Form.signIn()
        twice.text("email", "other@example.org")
        let first = try await api.send(twice, to: Path.login)
        #expect(first.refusal == "400 invalid_request email")
        var latin = Form.signIn().without("email")
        latin.parts.append(("email", nil, [0x61, 0xE9, 0x40, 0x62, 0x2E, 0x63]))
        let second = try await api.send(latin, to: Path.login)
        #expect(second.refusal == "400 invalid_request email")
    }

    private static let badBearers: [String] = ["Bearer nonsense", "Basic dXNlcjpwYXNz", "Bearer", "Bearer a b"]

    @Test(.api) func `An invalid bearer is refused, even beside an e-mail`() async throws {
        for authorization in Self.badBearers {
            let response = try await api.send(.signUp(), to: Path.signUp, headers: [("Authorization", authorization)])
            #expect(response.refusal == "401 unauthorized", "\(authorization)")
            #expect(response.header("WWW-Authenticate") == "Bearer", "\(authorization)")
            #expect(try await api.isUntouched(), "\(authorization)")
        }
    }

    // The client may have sent all of it before it reads the response.
    @Test(.api { ($0.connection.lingerBytes, $0.connection.lingerTime) = (64 << 20, .seconds(60)) })
    func `A photo of 30 MB is refused while it is sent, and the client receives the response`() async throws {
        let form = Form.signIn().withLastPhoto(TestPhoto.jpeg(scanBytes: 30 * 1024 * 1024))
        let response = try await api.send(form, to: Path.login)
        #expect(response.refusal == "413 payload_too_large faces")
        #expect(response.header("Connection") == "close")
        #expect(try await api.isUntouched())
        #expect(try await api.send(.signIn(), to: Path.login).status == 200)
    }

    @Test(.api) func `A body over 96 MB is refused before it is sent`() async throws {
        let connection = try RawConnection(port: api.port)
        try await connection.post(
            Path.signUp, type: "multipart/form-data; boundary=b", length: 96 * 1024 * 1024 + 1, "Expect: 100-continue")
        let answer = try #require(try await connection.receive(until: "\"meta\""))
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
        #expect(answer.contains("\"code\":\"payload_too_large\""))
        #expect(answer.lowercased().contains("connection: close"))
    }

    @Test(.api { $0.uploads.bodyBytes = 200_000 }) func `A body over the limit without an announced length is refused`() async throws {
        let form = Form.signIn().withLastPhoto(TestPhoto.jpeg(scanBytes: 300_000))
        let connection = try RawConnection(port: api.port)
        try await connection.send(
            "POST \(Path.login) HTTP/1.1\r\nHost: x\r\nContent-Type: \(form.contentType)\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n" + String(form.bytes.count, radix: 16) + "\r\n")
        try await connection.send(form.bytes)
        try await connection.send("\r\n0\r\n\r\n")
        let answer = try #require(try await connection.receive(until: "\"meta\""))
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
        #expect(try await api.isUntouched())
    }

    private static let shares: [Double] = [0.3, 0.7, 0.99]

    @Test(.api) func `A body that stops half way leaves nothing`() async throws {
        for share in Self.shares {
            let form = Form.signUp(email: "half@example.org").withLastPhoto(TestPhoto.jpeg(scanBytes: 200_000))
            let connection = try RawConnection(port: api.port)
            try await connection.post(Path.signUp, type: form.contentType, length: form.bytes.count)
            try await connection.send(Array(form.bytes.prefix(Int(Double(form.bytes.count) * share))))
            try await eventually("something of the upload is on the disk") { !api.storedFiles().isEmpty }
            connection.close()
            try await eventually("nothing of the upload is left") { try await api.isUntouched() }
        }
    }

    @Test(.api) func `A body whose last bytes are missing is refused as truncated`() async throws {
        let form = Form.signIn()
        let body = Array(form.bytes.dropLast(20))
        let response = try await api.send("POST", Path.login, headers: [("Content-Type", form.contentType)], body: body)
        #expect(response.refusal == "408 request_timeout" && response.json.value("error.retryable") == true)
        #expect(try await api.isUntouched())
    }

    @Test(
        .api {
            $0.connection.patience = .milliseconds(300)
            $0.connection.lingerTime = .seconds(2)
        })
    func `A client that stops sending is answered and disconnected, and its photos are deleted`() async throws {
        let form = Form.signIn()
        let connection = try RawConnection(port: api.port)
        try await connection.post(Path.login, type: form.contentType, length: form.bytes.count + 100_000)
        try await connection.send(Array(form.bytes.prefix(4_000)))
        let answer = try #require(try await connection.receive(), "the connection is not closed")
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
        #expect(answer.contains("\"code\":\"request_timeout\"") && answer.contains("\"retryable\":true"))
        #expect(try await api.isUntouched())
    }
}
