import Foundation
import HTTPClient
import TestSupport
import Testing

/// Sends the requests of the apps that the source documents describe, as written there: their users sign in with Firebase.
///
/// The document about the result of an eKYC (e-mail and photos) has its requests in `FaceJourneyTests`.
@Suite struct SourceDocumentTests {
    /// A phone whose user has signed in with Firebase and whose app has registered its token.
    private struct App {
        let phone: Phone
        let idToken: String

        static func launch(_ stack: Stack, person: String = UUID().uuidString) async throws -> App {
            let phone = try await Phone.make(stack)
            let app = App(phone: phone, idToken: try await phone.idToken(of: person))
            #expect(try await phone.register(bearer: app.idToken).status == 200)
            return app
        }

        /// Sends a JSON body; returns the answer with its header fields.
        func send(
            _ method: String, _ path: String, _ json: String? = nil, requestID: String? = nil
        ) async throws -> (status: Int, replayed: String?, body: JSONAnswer) {
            var request = HTTPClientRequest(method: method, url: phone.stack.apiURL + path, timeout: .seconds(100))
            request.headers = [
                ("Authorization", "Bearer \(idToken)"), ("Content-Type", "application/json"), ("X-Firebase-Installation-ID", phone.token),
            ]
            if let requestID { request.headers.append(("X-Request-ID", requestID)) }
            request.body = Array((json ?? "").utf8)
            let response = try await phone.stack.http.execute(request)
            return (response.status, response.header("idempotent-replayed"), JSONAnswer.parse(response.body))
        }

        func order(requestID: String, extra: String = "") async throws -> (status: Int, replayed: String?, body: JSONAnswer) {
            let picture = Data(try Photos.load(Photos.front[0])).base64EncodedString()
            return try await send(
                "POST", "/v1/images/process",
                """
                {"template_id":"pencil-sketch","image_base64":"data:image/jpeg;base64,\(picture)","device_token":"\(phone.token)",
                 "options":{"width":512,"height":512,"quality":"high"}\(extra)}
                """, requestID: requestID)
        }
    }

    private func keys(of answer: JSONAnswer) -> Set<String> {
        if case .object(let members) = answer { Set(members.keys) } else { [] }
    }

    @Test func `A: an order is accepted at once, its push comes, and the app fetches the picture and signs out`() async throws {
        let app = try await App.launch(try await Stack.shared())
        let id = UUID().uuidString
        let accepted = try await app.order(requestID: id, extra: #","async":true"#)
        #expect(accepted.status == 202 && keys(of: accepted.body) == ["success", "data", "meta"])
        #expect(keys(of: accepted.body["data"]) == ["job_id", "status", "estimated_time_seconds", "message"])
        #expect(accepted.body["data"]["message"].text == "Processing started. You will receive a notification when complete.")
        #expect(accepted.body["meta"]["requestId"].text?.uppercased() == id)
        let job = try #require(accepted.body["data"]["job_id"].text)

        let push = try await app.phone.pushes()[0]
        #expect(push["notification"]["title"].text == "Image Ready! 🎨")
        #expect(keys(of: push["data"]).isSuperset(of: ["type", "jobId", "templateName"]) && push["data"]["jobId"].text == job)
        #expect(push["apns"]["payload"]["aps"]["category"].text == "IMAGE_COMPLETE")

        let data = try await app.phone.job(job, bearer: app.idToken)
        #expect(keys(of: data).isSuperset(of: ["job_id", "status", "created_at", "completed_at", "result"]))
        #expect(keys(of: data["result"]) == ["processed_image_base64", "metadata"])
        #expect(
            keys(of: data["result"]["metadata"])
                == ["templateId", "templateName", "modelUsed", "generationTimeMs", "originalDimensions", "processedDimensions"])
        let jobs = try await app.send("GET", "/v1/images/jobs").body["data"]["jobs"].elements
        #expect(jobs.map(\.["job_id"].text) == [job])
        let devices = { try await app.send("GET", "/v1/users/me").body["data"]["devices"].number }
        #expect(try await devices() == 1)
        #expect(try await app.send("DELETE", "/v1/users/device-token", #"{"device_token":"\#(app.phone.token)"}"#).status == 204)
        #expect(try await devices() == 0, "no device gets pushes any more")
    }

    @Test func `D: one request waits for its picture, and a background session that sends it again gets the same answer`() async throws {
        let app = try await App.launch(try await Stack.shared())
        let id = UUID().uuidString
        let first = try await app.order(requestID: id, extra: #","async":false"#)
        #expect(first.status == 200 && first.replayed == nil)
        #expect(first.body["data"]["status"].text == "completed")
        #expect(first.body["data"]["processed_image_base64"].text?.hasPrefix("data:image/jpeg;base64,") == true)
        let second = try await app.order(requestID: id, extra: #","async":false"#)
        #expect(second.status == 200 && second.replayed == "true")
        #expect(second.body["data"]["job_id"] == first.body["data"]["job_id"])
        #expect(try await app.send("GET", "/v1/images/jobs").body["data"]["jobs"].elements.count == 1)
    }

    @Test func `E: a chat message is pushed to the other member, but not to a phone that shows the conversation`() async throws {
        let stack = try await Stack.shared()
        let person = UUID().uuidString
        let (ada, ben) = (try await App.launch(stack), try await App.launch(stack, person: person))
        let bensTablet = try await App.launch(stack, person: person)
        let id = "e-\(UUID().uuidString)"
        let topic = "conversation:\(id)"
        let created = try await ada.phone.enter(topic, bearer: ada.idToken)
        let adasID = try #require(created.body["data"]["user_id"].text)
        let bensID = try #require(try await ben.phone.enter("event:own-\(id)", bearer: ben.idToken).body["data"]["user_id"].text)
        #expect(try await ada.phone.enter(topic, bensID, bearer: ada.idToken).status == 202)
        #expect(try await ben.phone.pushes()[0]["data"]["topic"].text == topic)
        #expect(try await ben.phone.enter(topic, bearer: ben.idToken).status == 200)

        func say(_ app: App, _ message: String, _ text: String) async throws {
            let json = #"{"message_id":"\#(message)","text":"\#(text)"}"#
            let answer = try await app.send("POST", "/v1/topics/\(topic)/messages", json)
            #expect((200...202).contains(answer.status), "\(answer)")
        }
        try await say(ada, "m1", "Hello Ben")
        let push = try await ben.phone.pushes(count: 2)[1]
        #expect(push["notification"]["body"].text == "Hello Ben")
        #expect(keys(of: push["data"]).isSuperset(of: ["conversationId", "senderId", "message"]))
        #expect(push["data"]["conversationId"].text == id && push["data"]["senderId"].text == adasID)

        // Ben's phone shows the conversation, his tablet does not; then neither does.
        let presence = "/v1/users/me/presence"
        #expect(try await ben.send("PUT", presence, #"{"conversation_id":"\#(id)"}"#).status < 300)
        try await say(ada, "m2", "Do you see this?")
        #expect(try await bensTablet.phone.pushes(count: 3)[2]["notification"]["body"].text == "Do you see this?")
        #expect(try await ben.send("POST", "/v1/topics/\(topic)/read").status < 300)
        #expect(try await ben.send("PUT", presence, #"{"conversation_id":null}"#).status < 300)
        try await say(ada, "m3", "And this?")
        let pushes = try await ben.phone.pushes(count: 3)
        #expect(pushes.map(\.["notification"]["body"].text).suffix(2) == ["Hello Ben", "And this?"])
    }
}
