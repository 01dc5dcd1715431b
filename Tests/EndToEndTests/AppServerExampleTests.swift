import Foundation
import HTTPClient
import HeliographCrypto
import TestSupport
import Testing

/// Runs the example of an app's own server, `Examples/AppServer`, against the real executables.
@Suite struct AppServerExampleTests {
    /// The server of the example with its API key, and a customer with a phone.
    private struct Shop {
        let stack: Stack
        let key: String
        let phone: Phone
        let customer: String

        static func open() async throws -> Shop {
            let stack = try await Stack.shared()
            let phone = try await Phone.make(stack)
            let bearer = try await phone.idToken(of: UUID().uuidString)
            #expect(try await phone.register(bearer: bearer).status == 200)
            // The answer to the creation of a topic contains the user's own id.
            let topic = try await phone.enter("event:own-\(UUID().uuidString)", bearer: bearer)
            let made = try await CommandLineTool.run(
                [
                    PackageRoot.executable("heliographctl"), "credentials", "create", "--app",
                    "shop-\(UUID().uuidString.prefix(8).lowercased())", "--name", "example", "--scope", "notify", "--scope",
                    "topics:write", "--scope", "users:erase",
                ], environment: ["DATABASE_URL": stack.database.url])
            let key = try #require(made.firstMatch(of: #/hgk_\S+/#), "\(made)").output
            return Shop(
                stack: stack, key: String(key), phone: phone, customer: try #require(topic.body["data"]["user_id"].text))
        }

        /// Runs a command of `shop.py`, and returns the JSON that it prints.
        ///
        /// - Parameter url: The address of the API; nil for the stack's.
        func run(_ arguments: String..., at url: String? = nil) async throws -> JSONAnswer {
            let output = try await CommandLineTool.run(
                ["/usr/bin/python3", PackageRoot.file("Examples/AppServer/shop.py")] + arguments,
                environment: [
                    "HELIOGRAPH_URL": url ?? stack.apiURL, "HELIOGRAPH_API_KEY": key, "HELIOGRAPH_ISSUER": Stack.publicURL,
                    "PYTHONDONTWRITEBYTECODE": "1",
                ])
            return JSONAnswer.parse(Array(output.utf8))
        }

        /// Expects that a command fails with a message.
        func expectFailure(_ message: String, _ run: () async throws -> JSONAnswer) async throws {
            do {
                let answer = try await run()
                Issue.record("the command should fail with '\(message)' but prints \(answer)")
            } catch let failure as CommandLineTool.Failure {
                #expect(failure.exitCode == 1 && failure.output.contains(message), "\(failure)")
            }
        }
    }

    /// Passes a request of HTTP/1.1 on to identity-api, and returns the answer.
    private static func passOn(_ request: String, to stack: Stack) async throws -> HTTPClientResponse {
        let parts = request.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        var passed = HTTPClientRequest(method: String(words[0]), url: stack.apiURL + words[1], timeout: .seconds(60))
        passed.headers = lines.dropFirst().compactMap { line in
            let (name, value) = (line.prefix { $0 != ":" }, line.drop { $0 != ":" }.dropFirst())
            let isPassed = ["authorization", "content-type"].contains(name.lowercased())
            return isPassed ? (String(name), value.trimmingCharacters(in: .whitespaces)) : nil
        }
        passed.body = Array(parts[1].utf8)
        return try await stack.http.execute(passed)
    }

    @Test func `a parcel is pushed once, though the API is away at first and its first answer is lost`() async throws {
        let shop = try await Shop.open()
        let order = UUID().uuidString
        let proxy = try await ScriptedServer { connection in
            let request = try await connection.readRequest()
            guard connection.number > 0 else {
                return try await connection.write("HTTP/1.1 503 Away\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
            let answer = try await Self.passOn(request, to: shop.stack)
            guard connection.number > 1 else { return }
            #expect(answer.status == 202 && answer.header("idempotent-replayed") == "true", "the same key is sent again")
            try await connection.writeResponse("\(answer.status) Passed", body: String(decoding: answer.body, as: UTF8.self))
        }
        let started = ContinuousClock.now
        let sent = try await shop.run("shipped", order, shop.customer, at: proxy.url)
        #expect(.now - started >= .seconds(1), "Retry-After is obeyed")
        #expect(proxy.connectionCount == 3)
        #expect(sent["accepted"].number == 1 && sent["unknown"].number == 0, "\(sent)")

        let push = try await shop.phone.pushes()[0]
        #expect(push["notification"]["title"].text == "On its way")
        #expect(push["data"]["kind"].text == "order.shipped" && push["data"]["order"].text == order)
        let repeated = try await shop.run("shipped", order, shop.customer)
        #expect(repeated == sent, "a restarted server that sends it again")
        let id = try #require(sent["notification_id"].text)
        let state = try await eventually("the notification is settled") {
            let state = try await shop.run("state", id)
            return state["state"].text == "settled" ? state : nil
        }
        #expect(state["pushes"]["accepted"].number == 1, "\(state)")
        #expect(try await shop.phone.pushes().count == 1)
    }

    @Test func `a sale is pushed at its time to the members of a topic, and can be cancelled before`() async throws {
        let shop = try await Shop.open()
        let topic = "event:sale-\(UUID().uuidString)"
        for path in ["/v1/topics/\(topic)", "/v1/topics/\(topic)/members/\(shop.customer)"] {
            #expect(try await shop.phone.send("PUT", path, bearer: shop.key).status == 200)
        }
        let inAnHour = Date(timeIntervalSinceNow: 3_600).formatted(.iso8601)
        let later = try await shop.run("sale", topic, inAnHour, "In an hour")
        let cancelled = try #require(later["notification_id"].text, "\(later)")
        #expect(later["state"].text == "scheduled")
        #expect(try await shop.run("cancel", cancelled) == .null)
        #expect(try await shop.run("state", cancelled)["state"].text == "cancelled")

        let soon = try await shop.run("sale", topic, Date(timeIntervalSinceNow: 3).formatted(.iso8601), "Now")
        #expect(try await shop.phone.pushes()[0]["notification"]["body"].text == "Now")
        let sent = try #require(soon["notification_id"].text, "\(soon)")
        try await shop.expectFailure("already_sent") { try await shop.run("cancel", sent) }
        try await shop.expectFailure("topic_not_found") { try await shop.run("sale", topic + "-", inAnHour, "Never") }
    }

    @Test func `an account is erased, and its receipt proves that, but nothing else does`() async throws {
        let shop = try await Shop.open()
        let folder = try TemporaryDirectory()
        let claims = try await shop.run("forget", shop.customer, folder.path)
        let id = try #require(UUID(uuidString: shop.customer))
        let subject = Hex.encode(SHA256.hash(withUnsafeBytes(of: id.uuid, Array.init)))
        #expect(claims["erasure"]["subject_hash"].text == subject && claims["iss"].text == Stack.publicURL, "\(claims)")
        #expect(try await shop.run("verify", shop.customer, folder.path) == claims)
        #expect(try await shop.run("forget", shop.customer, folder.path) == claims, "after a crash it continues from its file")

        try await shop.expectFailure("User not found") { try await shop.run("forget", UUID().uuidString, folder.path) }
        let other = UUID().uuidString
        let receipt = try String(contentsOfFile: "\(folder.path)/\(shop.customer).receipt", encoding: .utf8)
        try receipt.write(toFile: "\(folder.path)/\(other).receipt", atomically: true, encoding: .utf8)
        try await shop.expectFailure("of another account") { try await shop.run("verify", other, folder.path) }
        let parts = receipt.split(separator: ".")
        let forged = Data(#"{"iss":"\#(Stack.publicURL)","erasure":{"scope":"account","subject_hash":"\#(subject)"}}"#.utf8)
        let payload = forged.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        for (text, message) in [
            ("\(parts[0]).\(payload).\(parts[2])", "its signature is wrong"), ("\(parts[0]).\(parts[1])", "malformed"),
            ("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.\(payload).", "another kind of token"),
        ] {
            try text.write(toFile: "\(folder.path)/\(shop.customer).receipt", atomically: true, encoding: .utf8)
            try await shop.expectFailure(message) { try await shop.run("verify", shop.customer, folder.path) }
        }
    }
}
