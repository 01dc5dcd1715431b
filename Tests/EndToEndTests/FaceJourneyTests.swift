import Foundation
import TestSupport
import Testing

/// Tests sign-ups and sign-ins through the five real executables, from the photos to the outcome and its push.
@Suite struct FaceJourneyTests {
    @Test func `a user signs up with nine photos, signs in with three others and redeems the session for one token`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let email = "ada-\(UUID().uuidString)@example.org"

        let upload = try await phone.signUp(email: email)
        #expect(upload.status == 200)
        #expect(upload.body["message"].text == "Photos uploaded successfully")
        let enrolment = try await phone.outcome(of: upload)
        #expect(enrolment["state"].text == "succeeded", "reason \(enrolment["reason"])")
        let welcome = try await phone.pushes()[0]
        #expect(welcome["notification"]["title"].text == "eKYC Sign Up")
        #expect(welcome["notification"]["body"].text == "Face registration completed successfully.")
        #expect(welcome["data"]["success"].text == "true")
        #expect(welcome["data"]["session_id"].text == upload.sessionID)
        let verification = try #require(enrolment["verification_id"].text)
        let reference = try #require(enrolment["reference"].text)
        let code = try await phone.mailedCode(to: email, for: reference)
        let user = try await phone.verify(verification, code: code).body["data"]["user_id"].text
        #expect(user != nil && user != welcome["data"]["user_id"].text, "before the proof, pushes have a pseudonym")

        let login = try await phone.signIn(email: email, faces: Photos.sameFace)
        #expect(login.status == 200)
        #expect(login.body["message"].text == "Login event published successfully")
        let recognition = try await phone.outcome(of: login)
        #expect(recognition["state"].text == "succeeded", "reason \(recognition["reason"])")
        let push = try await phone.pushes(count: 2)[1]
        #expect(push["notification"]["title"].text == "eKYC Sign In")
        #expect(push["notification"]["body"].text == "Face verification successful.")
        #expect(push["data"]["user_id"].text == user)

        let path = "/api/v1/ekyc/sessions/\(login.sessionID)/token"
        #expect(try await phone.post(path, bearer: login.sessionToken).body["error"]["code"].text == "verification_required")
        let grant = try await phone.redeem(login, email: email)
        #expect(grant.status == 200)
        let access = try #require((grant.body["data"] == .null ? grant.body : grant.body["data"])["access_token"].text)
        let second = try await phone.post(path, bearer: login.sessionToken)
        #expect(second.body["access_token"].text == access)
        let logout = try await phone.post("/api/v1/auth/logout", bearer: access)
        #expect((200...204).contains(logout.status))
        let late = try await phone.post("/api/v1/auth/logout", bearer: access)
        #expect(late.status == 401)
    }

    @Test func `an upload sent five times at once, and again later, has one session, one result and one push`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let (email, key) = ("mary-\(UUID().uuidString)@example.org", UUID().uuidString)
        let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<5 { group.addTask { try await phone.signUp(email: email, key: key) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let first = try #require(answers.first { $0.status == 200 })
        for answer in answers where answer.status != 200 {
            #expect(answer.status == 409 && answer.body["error"]["code"].text == "request_in_progress")
        }
        #expect(try await phone.outcome(of: first)["state"].text == "succeeded")
        let push = try await phone.pushes()[0]
        let again = try await phone.signUp(email: email, key: key)
        #expect(again.status == 200 && again.sessionID == first.sessionID && again.sessionToken == first.sessionToken)

        // After a later push to the same phone has arrived, no second push of the sign-up can be in flight before it.
        let code = try await phone.mailedCode(to: email)
        let user = try #require(try await phone.verify(first.sessionID, code: code).body["data"]["user_id"].text)
        let login = try await phone.signIn(email: email, faces: Photos.sameFace)
        #expect(try await phone.outcome(of: login)["state"].text == "succeeded")
        let pushes = try await phone.pushes(count: 2)
        #expect(pushes.map { $0["data"]["session_id"].text } == [push["data"]["session_id"].text, login.sessionID])
        #expect(try await stack.database.psql("SELECT count(*) FROM sessions WHERE user_id = '\(user)' AND event = 'sign_up'") == "1")
    }

    @Test func `another user's face and an unknown e-mail are refused in the same way`() async throws {
        let stack = try await Stack.shared()
        let owner = try await Phone.make(stack)
        let email = "grace-\(UUID().uuidString)@example.org"
        let account = try await owner.enrol(email: email).userID

        func attempt(_ email: String) async throws -> (Answer, JSONAnswer, JSONAnswer) {
            let phone = try await Phone.make(stack)
            let answer = try await phone.signIn(email: email, faces: Photos.otherFace)
            return (answer, try await phone.outcome(of: answer), try await phone.pushes()[0])
        }
        let (wrong, wrongRecord, wrongPush) = try await attempt(email)
        let (unknown, unknownRecord, unknownPush) = try await attempt("nobody-\(UUID().uuidString)@example.org")
        #expect(wrong.status == unknown.status)
        #expect(wrong.body["message"] == unknown.body["message"])
        for record in [wrongRecord, unknownRecord] {
            #expect(record["state"].text == "failed")
            #expect(record["reason"].text == "no_match")
        }
        for push in [wrongPush, unknownPush] {
            #expect(push["notification"]["body"].text == "Face verification failed. Please try again.")
            #expect(push["data"]["success"].text == "false")
            #expect(push["data"]["reason"] == .null)
            let pseudonym = try #require(push["data"]["user_id"].text)
            #expect(pseudonym != account && UUID(uuidString: pseudonym) != nil)
        }
        #expect(wrongRecord["attempts_left"] == unknownRecord["attempts_left"])
    }

    @Test func `enrolling with another user's address gains nothing and costs the owner nothing`() async throws {
        let stack = try await Stack.shared()
        let owner = try await Phone.make(stack)
        let email = "joan-\(UUID().uuidString)@example.org"
        let account = try await owner.enrol(email: email).userID
        let face = "SELECT template_sealed FROM face_templates WHERE user_id = '\(account)'"
        let before = try await stack.database.psql(face)
        #expect(!before.isEmpty)
        let stranger = try await Phone.make(stack)
        let answer = try await stranger.signUp(email: email)
        let record = try await stranger.outcome(of: answer)
        #expect(record["state"].text == "succeeded" && record["reason"] == .null)
        // Both have the same face here, so that a sign-in alone would not tell.
        #expect(try await stack.database.psql(face) == before, "the owner's face is still the same")
        let push = try await stranger.pushes()[0]
        #expect(push["notification"]["body"].text == "Face registration completed successfully.")
        #expect(push["data"]["user_id"].text != account)
        // The code is in the owner's mailbox; the stranger guesses.
        #expect(try await stranger.verify(answer.sessionID, code: "000000").status == 400)
        let login = try await owner.signIn(email: email, faces: Photos.sameFace)
        #expect(try await owner.outcome(of: login)["state"].text == "succeeded")
    }

    @Test func `a phone with a new user and a new token gets that user's pushes when its app has answered the check`() async throws {
        let stack = try await Stack.shared()
        let before = try await Phone.make(stack)
        _ = try await before.accessToken()
        let phone = try await before.withNewToken()

        let email = "heir-\(UUID().uuidString)@example.org"
        _ = try await phone.enrol(email: email)
        let login = try await phone.signIn(email: email, faces: Photos.sameFace)
        _ = try await phone.outcome(of: login)
        #expect(try await phone.pushes(count: 2)[1]["data"]["success"].text == "true")
        try await eventually("the push is settled") {
            let state = "SELECT state FROM notifications WHERE recipient_id = '\(login.sessionID)'"
            return try await stack.database.psql(state) == "settled" ? () : nil
        }
        let grant = try await phone.redeem(login, email: email)
        let access = try #require(grant.body["access_token"].text)
        let check = try await phone.pushes(count: 3)[2]
        #expect(check["data"]["type"].text == "possession_check" && check["notification"] == .null)
        #expect(try await phone.confirmPossession(check, bearer: access).status == 200)

        let order = try await phone.submit(try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: access)
        #expect(try await phone.pushes(count: 4)[3]["data"]["jobId"].text == order.jobID)
    }

    struct BadEnrolment: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: String
        var left = Photos.left
        var right = Photos.right
        var front = Photos.front
    }

    @Test(arguments: [
        BadEnrolment(
            testDescription: "two people in a photo", reason: "multiple_faces",
            front: ["cases/two-people"] + Photos.front.dropFirst()),
        BadEnrolment(
            testDescription: "no face in a photo", reason: "no_face", front: ["cases/no-face"] + Photos.front.dropFirst()),
        BadEnrolment(testDescription: "photos of two people", reason: "inconsistent_faces", front: Photos.otherFace),
        BadEnrolment(
            testDescription: "nine copies of one photo", reason: "duplicate_images",
            left: Array(repeating: Photos.front[0], count: 3), right: Array(repeating: Photos.front[0], count: 3),
            front: Array(repeating: Photos.front[0], count: 3)),
        BadEnrolment(testDescription: "left-facing photos as right-facing", reason: "pose_mismatch", right: Photos.left),
    ])
    func `photos that cannot be enrolled fail the session with a reason that its push lacks`(bad: BadEnrolment) async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let answer = try await phone.signUp(
            email: "bad-\(UUID().uuidString)@example.org", left: bad.left, right: bad.right, front: bad.front)
        #expect(answer.status == 200)
        let record = try await phone.outcome(of: answer)
        #expect(record["state"].text == "failed")
        // Left-facing photos that are sent again as right-facing ones may be refused as duplicates before their pose is checked.
        #expect([bad.reason, "duplicate_images"].contains(record["reason"].text ?? ""), "\(record["reason"])")
        let push = try await phone.pushes()[0]
        #expect(push["notification"]["body"].text == "Face registration failed. Please try again.")
        #expect(push["data"]["success"].text == "false")
    }

    @Test func `no secret is in the logs, and no photo remains`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let email = "quiet-\(UUID().uuidString)@example.org"
        let answer = try await phone.signUp(email: email)
        _ = try await phone.outcome(of: answer)
        _ = try await phone.pushes()
        let (token, session) = (try #require(answer.sessionToken), answer.sessionID.lowercased())
        // An e-mail is normalised before it goes anywhere.
        let logs = stack.allLogs().lowercased()
        #expect(logs.contains(session), "the logs are those of this sign-up")
        for secret in [email, phone.token, token] { #expect(!logs.contains(secret.lowercased())) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: stack.blobFolder).contains("ekyc"))
        try await eventually("the photos are deleted") {
            !FileManager.default.fileExists(atPath: "\(stack.blobFolder)/ekyc/\(session)")
        }
    }
}
