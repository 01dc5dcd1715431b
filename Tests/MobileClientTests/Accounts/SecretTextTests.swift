import Foundation
import Testing

@testable import MobileClient

/// What an app writes to its log by mistake.
@Suite struct SecretTextTests {
    private let tokens = AccountTokens(accessToken: "secret-a", refreshToken: "secret-r", expiresIn: 60, userID: "user")

    private var values: [Any] {
        get throws {
            let session = AccountSession(id: UUID(), tokens, receivedAt: Date())
            let url = URL(filePath: "/v1")
            let request = TransportRequest("GET", url, headers: ["Authorization": "Bearer secret-a", "Accept": "text/plain"])
            let response = TransportResponse(status: 200, headers: ["X-Session-Token": "secret-s"])
            let answer = #"{"purpose":"registration","enrolment_token":"secret-e","expires_in":900}"#
            let verified = try JSONDecoder().decode(AccountClient.Verified.self, from: Data(answer.utf8))
            return [tokens, session, [session], request, request.headers, response, verified, Optional(verified) as Any]
        }
    }

    @Test func `no text of a value has its tokens`() throws {
        for value in try values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains("secret"), "\(type(of: value))") }
        }
    }

    @Test func `a text says what is no secret`() throws {
        #expect("\(tokens)".contains("user"))
        #expect("\(TransportRequest("GET", URL(filePath: "/v1"), headers: ["Accept": "text/plain"]))".contains("text/plain"))
        #expect("\(AccountClient.Verified.other(purpose: "later"))".contains("later"))
    }
}
