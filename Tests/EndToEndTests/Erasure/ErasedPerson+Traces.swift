import Foundation
import HTTPClient
import TestSupport
import Testing

extension ErasedPerson {
    /// Pictures that the services made of the person's photos.
    struct Pictures: Sendable {
        /// The result of an image job.
        let result: [UInt8]
        /// The thumbnail of a photo of an event.
        let thumbnail: [UInt8]
    }

    /// Leaves a name, a refused sign-in, another that keeps its photos, a sign-up without proof, pictures, topics, messages and a dead
    /// letter.
    func leaveTraces(beside ben: Bystander) async throws -> Pictures {
        #expect(try await phone.send("PUT", "/v1/users/me", json: #"{"display_name":"\#(Self.name)"}"#, bearer: bearer).status == 200)
        let refused = try await phone.signIn(email: Self.email, faces: Photos.otherFace)
        #expect(try await phone.outcome(of: refused)["state"].text == "failed")
        try await failByOnePhoto()
        try await signUpWithoutProof()
        let result = try await makePicture()
        let thumbnail = try await shareTopics(with: ben)
        let json = #"{"message_id":"m1","text":"\#(Self.message)"}"#
        #expect(try await phone.post("/v1/topics/\(Self.joinedTopic)/messages", json: json, bearer: bearer).status == 202)
        try await leaveDeadLetter()
        return Pictures(result: result, thumbnail: thumbnail)
    }

    /// Leaves a push of another user's message that FCM answers late.
    func leavePushInFlight(from ben: Bystander) async throws {
        let fault = #"{"action":"delay","latency_ms":4000,"token":"\#(phone.token)"}"#
        let request = HTTPClientRequest(
            method: "POST", url: stack.fcmURL + "/control/faults", body: Array(fault.utf8), timeout: .seconds(100))
        #expect(try await stack.http.execute(request).status == 201)
        let json = #"{"message_id":"m2","text":"Hello Ada"}"#
        #expect(try await ben.phone.post("/v1/topics/\(Self.joinedTopic)/messages", json: json, bearer: ben.bearer).status == 202)
    }

    /// Leaves the good photos of a sign-in whose other photo can be retaken.
    private func failByOnePhoto() async throws {
        let faces = Photos.sameFace.prefix(2) + ["cases/no-face"]
        let failed = try await phone.signIn(email: Self.email, faces: Array(faces), comment: "kept")
        #expect(try await phone.outcome(of: failed)["retake_until"].text != nil)
    }

    /// Leaves a face and an e-mail that wait for the code of a mail: those who have the photos and know the e-mail need no account for it.
    private func signUpWithoutProof() async throws {
        let upload = try await phone.signUp(email: Self.email, comment: "again")
        #expect(try await phone.outcome(of: upload)["state"].text == "succeeded")
    }

    private func makePicture() async throws -> [UInt8] {
        let order = try await phone.submit(try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: bearer)
        let job = try await phone.job(order.jobID, bearer: bearer, query: "&result=url")
        #expect(job["status"].text == "completed", "\(job["error"])")
        return try await phone.fetch(link: try #require(job["result"]["image_url"].text)).body
    }

    /// Makes a topic that another user joins, joins one of the other user, and adds a photo; returns the thumbnail that is pushed.
    private func shareTopics(with ben: Bystander) async throws -> [UInt8] {
        #expect(try await phone.enter(Self.ownTopic, bearer: bearer).status == 200)
        #expect(try await phone.enter(Self.ownTopic, ben.userID, bearer: bearer).status == 202)
        #expect(try await ben.phone.enter(Self.ownTopic, bearer: ben.bearer).status == 200)
        #expect(try await ben.phone.enter(Self.joinedTopic, bearer: ben.bearer).status == 200)
        // The other user has accepted a topic of the person, which is no consent of the person.
        let invited = try await ben.phone.enter(Self.joinedTopic, userID.uuidString.lowercased(), bearer: ben.bearer)
        #expect(invited.status == 202, "\(invited.body)")
        #expect(try await phone.enter(Self.joinedTopic, bearer: bearer).status == 200)
        #expect(try await phone.addPhoto(try Photos.load(Photos.front[1]), to: Self.ownTopic, bearer: bearer).status == 202)
        let push = try await ben.push { $0["data"]["action"].text == "new_photos" }
        let link = try #require(push["data"]["image_url"].text)
        return try await ben.phone.fetch(link: link).body
    }

    /// Leaves a message with the person's id that no service can read.
    private func leaveDeadLetter() async throws {
        let streams = try await stack.redis.cli("--scan", "--pattern", "*{notification.requested}").split(separator: "\n")
        try await stack.redis.cli("XADD", String(try #require(streams.first)), "*", "unreadable", userID.uuidString.lowercased())
        try await eventually("the message is a dead letter") {
            try await stack.database.psql("SELECT count(*) FROM dead_letters WHERE stream = 'notification.requested'") == "1"
        }
    }
}
