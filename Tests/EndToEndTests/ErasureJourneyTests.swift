import Foundation
import HTTPClient
import TestSupport
import Testing

/// Tests the erasure of an account through the real executables, each of which is killed on the way.
@Suite struct ErasureJourneyTests {
    private func send(
        _ method: String, _ path: String, _ json: String? = nil, _ stack: Stack, bearer: String
    ) async throws -> (status: Int, body: JSONAnswer) {
        var request = HTTPClientRequest(method: method, url: stack.apiURL + path, timeout: .seconds(100))
        request.headers = [("Authorization", "Bearer \(bearer)"), ("Content-Type", "application/json")]
        request.body = Array((json ?? "").utf8)
        let response = try await stack.http.execute(request)
        return (response.status, JSONAnswer.parse(response.body))
    }

    /// Signs in by face, and returns the access token.
    private func signIn(_ phone: Phone, _ email: String) async throws -> String {
        let login = try await phone.signIn(email: email, faces: Photos.sameFace)
        let outcome = try await phone.outcome(of: login)
        let grant = try await phone.post("/api/v1/ekyc/sessions/\(login.sessionID)/token", bearer: login.sessionToken)
        return try #require(grant.body["access_token"].text, "\(outcome) \(grant.body)")
    }

    /// Makes the person known everywhere: a face, a name, pictures, topics of their own and of others, messages, a refused sign-in, a
    /// push that is being sent, and a dead letter.
    private func leaveTraces(
        of phone: Phone, _ user: String, _ email: String, _ bearer: String, beside ben: (phone: Phone, bearer: String), _ stack: Stack
    ) async throws {
        #expect(try await send("PUT", "/v1/users/me", #"{"display_name":"Ada Zebra"}"#, stack, bearer: bearer).status == 200)
        let other = try await phone.signIn(email: email, faces: Photos.otherFace)
        #expect(try await phone.outcome(of: other)["state"].text == "failed")
        let order = try await phone.submit(try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: bearer)
        #expect(try await phone.job(order.jobID, bearer: bearer)["status"].text == "completed")

        let bensID = try #require(
            try await ben.phone.enter("event:ben-\(UUID().uuidString)", bearer: ben.bearer).body["data"]["user_id"].text)
        _ = try await phone.enter("event:party", bearer: bearer)
        _ = try await phone.enter("event:party", bensID, bearer: bearer)
        _ = try await ben.phone.enter("event:party", bearer: ben.bearer)
        _ = try await ben.phone.enter("conversation:7", bearer: ben.bearer)
        _ = try await ben.phone.enter("conversation:7", user, bearer: ben.bearer)
        _ = try await phone.enter("conversation:7", bearer: bearer)
        #expect(try await phone.addPhoto(try Photos.load(Photos.front[1]), to: "event:party", bearer: bearer).status == 202)
        let messages = "/v1/topics/conversation:7/messages"
        #expect(try await send("POST", messages, #"{"message_id":"m1","text":"Hello Ben"}"#, stack, bearer: bearer).status == 202)

        // A push that FCM answers late, and a message that nothing can read.
        let fault = #"{"action":"delay","latency_ms":4000,"token":"\#(phone.token)"}"#
        _ = try await stack.http.execute(
            HTTPClientRequest(method: "POST", url: stack.fcmURL + "/control/faults", body: Array(fault.utf8), timeout: .seconds(100)))
        #expect(try await send("POST", messages, #"{"message_id":"m2","text":"Hello Ada"}"#, stack, bearer: ben.bearer).status == 202)
        let stream = try #require(
            try await stack.redis.cli("--scan", "--pattern", "*{notification.requested}").split(separator: "\n").first.map(String.init))
        try await stack.redis.cli("XADD", stream, "*", "unreadable", user)
        try await eventually("the message is a dead letter") {
            try await stack.redis.cli("--scan", "--pattern", "*{notification.requested}*dead*").contains("dead")
        }
    }

    @Test func `nothing of an erased user is left, and another user loses nothing, while every service is killed`() async throws {
        let stack = try await Stack.start()
        let (phone, bensPhone) = (try await Phone.make(stack), try await Phone.make(stack))
        let email = "ada-zebra@example.org"
        let user = try await phone.enrol(email: email).userID
        let bearer = try await signIn(phone, email)
        let ben = (phone: bensPhone, bearer: try await bensPhone.accessToken())
        let blobsBefore = stack.blobCount()
        try await leaveTraces(of: phone, user, email, bearer, beside: ben, stack)

        let search = PersonSearch([user, email, "Ada Zebra", phone.token, bearer])
        let before = try await search.places(in: stack)
        #expect(Set(before).isSuperset(of: ["users", "access_tokens", "image_jobs", "topic_members", "notifications"]), "\(before)")
        #expect(before.contains { $0.contains("notification.requested") }, "the dead letter")
        #expect(stack.blobCount() > blobsBefore)

        let erasure = try await send("DELETE", "/v1/users/me", nil, stack, bearer: bearer)
        #expect(erasure.status == 202, "\(erasure.body)")
        let (url, token) = (
            try #require(erasure.body["data"]["receipt_url"].text), try #require(erasure.body["data"]["receipt_token"].text)
        )
        for service in Stack.services {
            await stack.kill(service)
            try stack.launch(service)
        }
        for service in Stack.services { try await stack.waitUntilReady(service) }
        try await eventually(within: .seconds(300), "the erasure is completed; identity-api: \(stack.tail(of: "identity-api"))") {
            try await send("GET", url, nil, stack, bearer: token).body["data"]["state"].text == "completed"
        }

        // The last message of a stream stays until the next one, by which the server knows what is undelivered.
        let order = try await bensPhone.submit(try Photos.load(Photos.front[2]), template: "pencil-sketch", bearer: ben.bearer)
        #expect(try await bensPhone.job(order.jobID, bearer: ben.bearer)["status"].text == "completed")
        var left: [String] = []
        try await eventually("nothing is left in \(left)") {
            left = try await search.places(in: stack)
            return left.isEmpty
        }
        #expect(try await send("DELETE", "/v1/images/jobs/\(order.jobID)", nil, stack, bearer: ben.bearer).status < 300)
        try await eventually("the pictures are gone") { stack.blobCount() == blobsBefore }
        for topic in ["event:party", "conversation:7"] {
            let members = try await send("GET", "/v1/topics/\(topic)/members", nil, stack, bearer: ben.bearer)
            #expect(members.status == 200 && members.body["data"]["members"].elements.count == 1, "\(topic): \(members.body)")
        }
        let enrolment = try await phone.outcome(of: try await phone.signUp(email: email))
        let verification = try #require(enrolment["verification_id"].text)
        let verified = try await phone.verify(verification, code: try await phone.mailedCode(to: email, count: 2))
        let again = try #require(verified.body["data"]["user_id"].text, "\(verified.body)")
        #expect(again != user)
    }
}
