import HTTPClient
import TestSupport
import Testing

@Suite struct RequestTests {
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Thing:  spaced \r\n\r\nok"

    @Test func `a request arrives as written and the response is whole`() async throws {
        let server = try await ScriptedServer { connection in
            let request = try await connection.readRequest()
            try await connection.write(
                "HTTP/1.1 201 Created\r\nX-Echo: \(request.count)\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)")
            try await connection.waitForClose()
        }
        try await withClient { client in
            let response = try await client.execute(
                HTTPClientRequest(
                    method: "POST", url: server.url + "a/b?c=d",
                    headers: [("Authorization", "Bearer x"), ("Content-Type", "application/json"), ("X-Empty", "")],
                    body: Array(#"{"ä":1}"#.utf8)))
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == 201)
            #expect(response.httpVersion == .http1)
            #expect(response.header("x-echo") == "\(text.count)")
            #expect(text.hasPrefix("POST /a/b?c=d HTTP/1.1\r\n"))
            #expect(text.contains("\r\nAuthorization: Bearer x\r\n"))
            #expect(text.contains("\r\nX-Empty:\r\n"))
            #expect(text.contains("\r\nContent-Length: 8\r\n"))
            #expect(!text.contains("Expect:"))
            #expect(text.hasSuffix("\r\n\r\n{\"ä\":1}"))
        }
    }

    @Test(arguments: ["GET", "DELETE", "PUT", "POST", "PATCH", "OPTIONS"])
    func `methods are sent, with and without a body`(method: String) async throws {
        let server = try await ScriptedServer { connection in
            while true {
                let request = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)")
            }
        }
        try await withClient { client in
            let bare = try await client.execute(HTTPClientRequest(method: method, url: server.url))
            #expect(String(decoding: bare.body, as: UTF8.self).hasPrefix("\(method) / HTTP/1.1\r\n"))
            let full = try await client.execute(HTTPClientRequest(method: method, url: server.url, body: [0x61, 0x62]))
            #expect(String(decoding: full.body, as: UTF8.self).hasPrefix("\(method) / HTTP/1.1\r\n"))
            #expect(String(decoding: full.body, as: UTF8.self).hasSuffix("\r\n\r\nab"))
            #expect(full.connectionsOpened == 0, "the connection is reused")
        }
    }

    @Test func `interim responses and their headers are ignored`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n" + Self.ok)
            try await connection.waitForClose()
        }
        try await withClient { client in
            let response = try await client.execute(HTTPClientRequest(url: server.url))
            #expect(response.status == 200)
            #expect(response.header("X-Early") == nil)
            #expect(response.header("X-Thing") == "spaced")
        }
    }

    @Test func `a redirect is returned and not followed`() async throws {
        let server = try await ScriptedServer.answering("302 Found\r\nLocation: http://127.0.0.1:1/")
        try await withClient { client in
            let response = try await client.execute(HTTPClientRequest(url: server.url))
            #expect(response.status == 302)
        }
    }

    @Test(arguments: [
        HTTPClientRequest(url: "http://127.0.0.1:1/", headers: [("X", "a\r\nInjected: b")]),
        HTTPClientRequest(url: "http://127.0.0.1:1/", headers: [("X\n", "a")]),
        HTTPClientRequest(url: "http://127.0.0.1:1/", headers: [("", "a")]),
        HTTPClientRequest(url: "http://127.0.0.1:1/\r\nX: y"),
        HTTPClientRequest(url: ""),
        HTTPClientRequest(url: "file:///etc/passwd"),
        HTTPClientRequest(url: "gopher://127.0.0.1:1/"),
        HTTPClientRequest(method: "GET /x", url: "http://127.0.0.1:1/"),
    ])
    func `an invalid request is refused`(request: HTTPClientRequest) async throws {
        try await withClient { client in
            await expect(client, request, failsAs: .invalidRequest, mayHaveReachedServer: false)
        }
    }

    @Test func `a request may have a limit of its own, above or below the client's`() async throws {
        let server = try await ScriptedServer.answering(body: "0123456789")
        for (clientMaximum, requestMaximum, isTaken) in [(5, 10, true), (100, 9, false), (9, nil, false)] {
            try await withClient(configure: { $0.maxResponseBodyByteCount = clientMaximum }) { client in
                var request = HTTPClientRequest(url: server.url)
                request.maxResponseBodyByteCount = requestMaximum
                #expect(await failure(client, request)?.code == (isTaken ? nil : .responseTooLarge))
            }
        }
    }

    @Test func `a signed request has a signature and no unsigned headers`() async throws {
        let server = try await ScriptedServer { connection in
            try await connection.writeResponse(body: connection.readRequest())
        }
        var request = HTTPClientRequest(
            method: "PUT", url: server.url + "b/k", headers: [("x-amz-content-sha256", "digest"), ("Content-Type", "image/jpeg")],
            body: [1, 2, 3])
        request.awsSignature = AWSSignature(region: "eu-central-1", service: "s3", accessKeyID: "AKIA", secretAccessKey: "hidden")
        try await withClient { client in
            let text = String(decoding: try await client.execute(request).body, as: UTF8.self)
            #expect(text.contains("\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIA/"))
            #expect(text.contains("SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,"))
            #expect(!text.contains("hidden"))
        }
    }

    @Test func `an invalid signature is refused before anything is sent`() async throws {
        let signature = AWSSignature(region: "r", service: "s3", accessKeyID: "id", secretAccessKey: "secret")
        try await withClient { client in
            var request = HTTPClientRequest(method: "PUT", url: "http://127.0.0.1:1/", body: [1])
            request.awsSignature = signature
            #expect(await failure(client, request)?.code == .invalidRequest)
            request.body = []
            for change in [\AWSSignature.region, \.service, \.accessKeyID, \.secretAccessKey] {
                request.awsSignature = signature
                request.awsSignature?[keyPath: change] = ""
                #expect(await failure(client, request)?.code == .invalidRequest)
            }
        }
    }

    @Test func `plain HTTP must be allowed explicitly`() async throws {
        try await withClient(configure: { $0.allowedSchemes = ["https"] }) { client in
            #expect(await failure(client, HTTPClientRequest(url: "http://127.0.0.1:1/"))?.code == .invalidRequest)
        }
    }
}
