import Foundation
import HTTPClient
import TestSupport
import Testing

/// Secrets and texts of users are in no log and in no stream.
@Suite struct LogTests {
    private static let word = ServiceLogs.secretWord

    /// Sends a request to identity-api; `bearer` may be invalid. Returns the status.
    private func say(_ method: String, _ path: String, _ body: String, bearer: String?, _ stack: Stack) async throws -> Int {
        var request = HTTPClientRequest(method: method, url: stack.apiURL + path)
        request.headers = [("Content-Type", "application/json")]
        if let bearer { request.headers.append(("Authorization", "Bearer " + bearer)) }
        request.body = Array(body.utf8)
        return try await stack.http.execute(request).status
    }

    @Test func `no secret is in the logs of the five services or in Redis`() async throws {
        let stack = try await Stack.start(settings: ["LOG_LEVEL": "debug"])
        let (ada, ben) = (try await Phone.make(stack), try await Phone.make(stack))
        let (adas, bens) = (try await accessToken(of: ada), try await accessToken(of: ben))
        try await chat(ada, adas.token, ben, bens.token)
        try await insist(stack)
        try await fail(stack, ben)
        let logs = stack.allLogs()
        #expect(logs.split(separator: "\n").count > 50, "there is something to search")
        let secrets =
            [Self.word, ada.token, ben.token, adas.token, bens.token, "PRIVATE KEY", "APA91b", "ya29."] + adas.secrets + bens.secrets
        let streams = try await everythingInRedis(stack)
        #expect(streams.contains("notification_id") || streams.contains("notification.requested"), "streams were read")
        for secret in secrets where !secret.isEmpty {
            #expect(!logs.contains(secret), "a log has a secret that begins with \(secret.prefix(4))")
            #expect(!streams.contains(secret), "a stream has a secret that begins with \(secret.prefix(4))")
        }
    }

    /// Signs up and in by face, with an e-mail address that contains the secret word.
    private func accessToken(of phone: Phone) async throws -> (token: String, secrets: [String]) {
        let email = "\(Self.word)-\(UUID().uuidString.lowercased())@example.org"
        let signUp = try await phone.enrol(email: email).upload
        let login = try await phone.signIn(email: email, faces: Photos.sameFace)
        _ = try await phone.outcome(of: login)
        let grant = try await phone.redeem(login, email: email)
        let token = try #require(grant.body["access_token"].text)
        let refresh = grant.body["refresh_token"].text ?? ""
        return (token, [email, refresh, signUp.sessionToken ?? "", login.sessionToken ?? ""])
    }

    /// Sends a chat message whose text and sender name contain the secret word.
    private func chat(_ ada: Phone, _ adas: String, _ ben: Phone, _ bens: String) async throws {
        let stack = ada.stack
        let id = "logs-\(UUID().uuidString.lowercased())"
        let earlier = try await ben.pushes(count: 2).count
        #expect(try await ada.enter("conversation:\(id)", bearer: adas).status == 200)
        let own = try await ben.enter("conversation:own-\(id)", bearer: bens)
        let bensID = try #require(own.body["data"]["user_id"].text)
        #expect(try await ada.enter("conversation:\(id)", bensID, bearer: adas).status == 202)
        let invited = try await ben.pushes(count: earlier + 1).count
        #expect(try await ben.enter("conversation:\(id)", bearer: bens).status == 200)
        let name = #"{"display_name":"Ada \#(Self.word)"}"#
        #expect(try await say("PUT", "/v1/users/me", name, bearer: adas, stack) == 200)
        let message = #"{"message_id":"m-1","text":"meet me at the \#(Self.word)"}"#
        let status = try await say("POST", "/v1/topics/conversation:\(id)/messages", message, bearer: adas, stack)
        #expect((200...202).contains(status))
        let pushes = try await ben.pushes(count: invited + 1)
        #expect(pushes[invited]["notification"]["body"].text?.contains(Self.word) == true, "the push contains the secret word")
    }

    /// Sends the secret word in bad bearer tokens, invalid bodies and unknown fields.
    private func insist(_ stack: Stack) async throws {
        let word = Self.word
        for (method, path) in [
            ("GET", "/v1/images/jobs"), ("GET", "/v1/images/jobs/\(UUID())"), ("DELETE", "/v1/images/jobs/\(UUID())"),
            ("POST", "/v1/images/process"), ("GET", "/v1/topics/event:x/members"), ("POST", "/v1/topics/event:x/photos"),
            ("POST", "/v1/topics/conversation:x/messages"), ("POST", "/v1/topics/conversation:x/read"),
            ("PUT", "/v1/users/me"), ("PUT", "/v1/users/me/presence"), ("POST", "/v1/users/device-token"),
            ("DELETE", "/v1/users/device-token"), ("POST", "/v1/notifications/receipts"), ("POST", "/api/v1/auth/refresh"),
            ("POST", "/api/v1/auth/logout"), ("POST", "/api/v1/ekyc/login"), ("POST", "/api/v1/ekyc/upload-photos"),
        ] {
            let body = #"{"fcm_token":"\#(word)","text":"\#(word)","email":"\#(word)@example.org","refresh_token":"\#(word)"}"#
            let status = try await say(method, path, method == "GET" ? "" : body, bearer: "\(word)-bearer-0123456789", stack)
            #expect((400..<500).contains(status), "\(method) \(path)")
        }
    }

    /// Makes pushes fail, because the notifier logs failures.
    private func fail(_ stack: Stack, _ phone: Phone) async throws {
        let rules = [
            #"{"code":"UNAVAILABLE","retry_after":"1"}"#, #"{"action":"html","status":502}"#,
            // The last, because the phone's token is dead after it.
            #"{"code":"INVALID_ARGUMENT"}"#,
        ]
        for rule in rules {
            var request = HTTPClientRequest(method: "POST", url: stack.fcmURL + "/control/faults")
            request.body = Array(rule.utf8)
            #expect(try await stack.http.execute(request).status == 201)
            let answer = try await phone.signIn(email: "\(Self.word)-\(UUID().uuidString)@example.org", faces: Photos.otherFace)
            _ = try await phone.outcome(of: answer)
        }
        try await eventually("all faults have happened") {
            let answer = try await stack.http.execute(HTTPClientRequest(url: stack.fcmURL + "/control/faults"))
            return JSONAnswer.parse(answer.body)["faults"].elements.isEmpty ? () : nil
        }
    }

    private func everythingInRedis(_ stack: Stack) async throws -> String {
        let keys = try await stack.redis.cli("KEYS", "*").split(separator: "\n").map(String.init)
        var text = keys.joined(separator: "\n")
        for key in keys {
            switch try await stack.redis.cli("TYPE", key).trimmingCharacters(in: .whitespacesAndNewlines) {
            case "stream": text += try await stack.redis.cli("XRANGE", key, "-", "+")
            case "string": text += try await stack.redis.cli("GET", key)
            case "hash": text += try await stack.redis.cli("HGETALL", key)
            case "zset": text += try await stack.redis.cli("ZRANGE", key, "0", "-1")
            case "set": text += try await stack.redis.cli("SMEMBERS", key)
            case "list": text += try await stack.redis.cli("LRANGE", key, "0", "-1")
            default: break
            }
        }
        return text
    }
}
