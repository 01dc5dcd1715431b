import FaceEngine
import Foundation
import TestSupport
import Testing

/// Tests the erasure of an account through the real executables, each of which is killed on the way.
@Suite struct ErasureJourneyTests {
    /// Places where the person is found before the erasure: at least one of each kind that is searched.
    private static let expectedPlaces: Set = [
        "table access_tokens", "table conversation_messages", "table face_duplicates", "table face_photo_hashes", "table face_templates",
        "table idempotency_keys",
        "table image_jobs", "table notifications", "table push_installs", "table sessions", "table topic_members", "table topic_photos",
        "table topics", "table users", "seal of email_verifications.email_sealed", "seal of face_templates.template_sealed",
        "seal of pending_enrolments.template_sealed", "seal of push_installs.value_sealed", "seal of users.display_name_sealed",
        "seal of users.email_sealed", "sealed blob of images", "sealed blob of topics", "sealed blob of ekyc", "table dead_letters",
    ]

    /// Checks that the search finds what is there: the person in every place that keeps data of persons, and an id that the services log in
    /// the places that keep none.
    private func expectFindings(_ search: PersonSearch, of ada: ErasedPerson, _ stack: Stack) async throws {
        let found = try await search.everywhere()
        #expect(found.places.isSuperset(of: Self.expectedPlaces), "not found in \(Self.expectedPlaces.subtracting(found.places).sorted())")
        #expect(found.places.contains { $0.hasPrefix("table audit_log_") })
        #expect(found.contains(.init(place: "seal of face_templates.template_sealed", what: "a template of the same face")))
        #expect(!found.contains { $0.what.hasSuffix("does not open") }, "\(found.filter { $0.what.hasSuffix("does not open") })")

        let control = try PersonSearch([.text("trace", ada.trace)], in: stack)
        let file = stack.spoolFolder + "/control"
        try Data(ada.trace.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try control.inSpool().places == ["spool file control"])
        try FileManager.default.removeItem(atPath: file)
        // Of the streams it depends on the time what is left.
        try await stack.redis.cli("SET", "control", ada.trace)
        #expect(try await control.inRedis().places.contains("Redis key control"))
        #expect(try await control.inFilesOfRedis().places == ["RDB", "AOF"])
        try await stack.redis.cli("DEL", "control")
        #expect(try control.inLogs().places.isSuperset(of: ["log of identity-api", "log of face-matching-worker"]))
        try await eventually("the spans of the sign-ins are exported") { control.inTraces().places == ["traces"] }
    }

    /// Asks for the erasure, kills every service, and waits until the erasure is completed.
    private func erase(_ ada: ErasedPerson, _ stack: Stack) async throws {
        let receipt = try await ada.requestErasure()
        for service in Stack.services {
            await stack.kill(service)
            try stack.launch(service)
        }
        for service in Stack.services { try await stack.waitUntilReady(service) }
        try await eventually(within: .seconds(300), "the erasure is completed; identity-api: \(stack.tail(of: "identity-api"))") {
            try await ada.phone.get(receipt.path, bearer: receipt.token).body["data"]["state"].text == "completed"
        }
    }

    /// Checks that the same person's new account has nothing of the former one.
    private func expectEmptyAccount(of ada: ErasedPerson, _ stack: Stack) async throws {
        let mails = try await ada.phone.mailCount(to: ErasedPerson.email)
        let enrolment = try await ada.phone.outcome(of: try await ada.phone.signUp(email: ErasedPerson.email, comment: "new"))
        let verification = try #require(enrolment["verification_id"].text, "\(enrolment)")
        let code = try await ada.phone.mailedCode(to: ErasedPerson.email, count: mails + 1)
        let verified = try await ada.phone.verify(verification, code: code)
        let user = try #require(verified.body["data"]["user_id"].text, "\(verified.body)")
        #expect(UUID(uuidString: user) != ada.userID)

        let login = try await ada.phone.signIn(email: ErasedPerson.email, faces: Photos.sameFace, comment: "new")
        #expect(try await ada.phone.outcome(of: login)["state"].text == "succeeded")
        let grant = try await ada.phone.redeem(login, email: ErasedPerson.email)
        let bearer = try #require(grant.body["access_token"].text, "\(grant.body)")
        let account = try await ada.phone.get("/v1/users/me", bearer: bearer).body["data"]
        #expect(account["user_id"].text == user && account["email"].text == ErasedPerson.email)
        #expect(account["display_name"] == .null && account["topics"].number == 0)
        #expect(account["devices"].number == 1 && account["sessions"].number == 1)
        let jobs = try await ada.phone.get("/v1/images/jobs", bearer: bearer)
        #expect(jobs.status == 200 && jobs.body["data"]["jobs"].elements.isEmpty)
        for topic in [ErasedPerson.ownTopic, ErasedPerson.joinedTopic] {
            #expect(try await ada.phone.get("/v1/topics/\(topic)/members", bearer: bearer).status == 404)
        }
    }

    @Test func `nothing of an erased user is left, and another user loses nothing, while every service is killed`() async throws {
        let stack = try await Stack.start(traces: try await TraceCollector())
        let keys = try KeyRings(of: stack)
        let ben = try await Bystander.join(stack)
        try await ben.enrolMadeUpFace(keys)
        let ada = try await ErasedPerson.join(stack)
        let pictures = try await ada.leaveTraces(beside: ben)
        try await ben.addPhoto(to: ErasedPerson.ownTopic)
        let template = try await ada.template(keys)
        let search = try PersonSearch(
            try await ada.needles(pictures, template), face: try EnrolledFace(decoding: template), in: stack)
        try await expectFindings(search, of: ada, stack)

        let belongings = try await ben.belongings()
        try await ada.leavePushInFlight(from: ben)
        try await erase(ada, stack)
        try await ben.expectLossless(since: belongings)
        var left: Set<PersonSearch.Finding> = []
        try await eventually("nothing is left: \(left.map(\.description).sorted())") {
            left = try await search.everywhere()
            return left.isEmpty
        }
        let blobs = try await ben.blobs().others
        #expect(blobs.isEmpty, "files that are not the other user's: \(blobs)")
        for topic in [ErasedPerson.ownTopic, ErasedPerson.joinedTopic] {
            let members = try await ben.phone.get("/v1/topics/\(topic)/members", bearer: ben.bearer)
            let data = members.body["data"]
            #expect(
                data["owner_id"].text == ben.userID && data["members"].elements.map(\.["user_id"].text) == [ben.userID], "\(topic): \(data)"
            )
        }
        try await expectEmptyAccount(of: ada, stack)
    }
}
