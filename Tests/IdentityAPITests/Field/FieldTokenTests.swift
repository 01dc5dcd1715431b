import HTTPClient
import PostgresClient
import Testing

@testable import IdentityAPI

/// What phones send in place of a push token.
@Suite struct FieldTokenTests {
    private static let apns = String(repeating: "0f", count: 32)
    private static let placeholders = [
        "null", "NULL", "(null)", "undefined", "nil", "none", "BLACKLISTED", "MESSENGER", "SERVICE_NOT_AVAILABLE", "undefined:APA91b",
        "NO_TOKEN", "Error", "string",
    ]
    private static let others = ["ExponentPushToken[abc]": "Expo", "Bearer abc": "white space", "mock_token_7": "shape", "123": "shape"]
    private static let printed = ["\"\(Form.pushToken)\"", "'\(Form.pushToken)'", "Optional(\"\(Form.pushToken)\")", "{token}"]

    @Test(.api, arguments: placeholders + printed + others.keys + [apns, apns.uppercased()])
    func `what is no token is refused with the reason, and begins nothing`(token: String) async throws {
        let answer = try await api.send(Form.signIn().with("fcm_token", token), to: Path.login)
        #expect(answer.refusal == "400 invalid_request fcm_token")
        let message = answer.json.text("message") ?? ""
        let reason =
            Self.others[token] ?? (Self.placeholders.contains(token) ? "placeholder" : Self.printed.contains(token) ? "quotes" : "APNs")
        #expect(message.contains(reason) && !message.contains(token))
        #expect(try await api.count("sessions") + api.count("push_installs") == 0)
    }

    @Test(.api, arguments: ["", " ", "\u{200B}", nil]) func `a phone without a token signs in, and no installation is made of it`(
        token: String?
    )
        async throws
    {
        let form = Form.signIn()
        let session = try await api.start(Path.login, token.map { form.with("fcm_token", $0) } ?? form.without("fcm_token"))
        #expect(try await api.count("push_installs") == 0)
        let state = try await api.send("GET", Path.session(session.id), headers: [("Authorization", "Bearer \(session.token)")])
        #expect(state.json.text("data.state") == "received")
        #expect(try await api.count("outbox") == 1)
    }

    @Test(.api) func `white space around a token does not count`() async throws {
        let answer = try await api.send(Form.signIn().with("fcm_token", " \(Form.pushToken)\n"), to: Path.login)
        #expect(answer.status == 200)
        #expect(try await api.count("push_installs") == 1)
    }
}
