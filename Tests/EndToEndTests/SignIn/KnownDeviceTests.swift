import Foundation
import TestSupport
import Testing

/// Honest sign-ins on known devices while the services that serve them are killed.
@Suite struct KnownDeviceTests {
    @Test func `a known device signs in once a sign-in, and needs no code, while services are killed`() async throws {
        let stack = try await Stack.start()
        let scale = SignInScale.current.honest
        var owners: [SignedInOwner] = []
        for _ in 0..<scale.phones { owners.append(try await SignedInOwner.make(stack)) }
        var result = AttackResult("honest sign-ins on known devices, with kills")
        try await withThrowingTaskGroup(of: [String].self) { group in
            for (index, owner) in owners.enumerated() {
                group.addTask {
                    var answers: [String] = []
                    for number in 0..<(scale.signIns / scale.phones) {
                        // One at a time: a session whose worker ends again and again is given up.
                        let victim = ["face-matching-worker", "identity-api"][number % 2]
                        async let killed: Void = index == 0 ? Self.kill(victim, of: stack) : ()
                        answers.append(try await Self.signIn(owner))
                        try await killed
                    }
                    return answers
                }
            }
            for try await answers in group { for answer in answers { result.add(answer, isSuccess: answer == "200") } }
        }
        result.report()
        #expect(result.answers.keys.sorted() == ["200"], "\(result)")
        let open = "SELECT count(*) FROM sessions WHERE event = 'sign_in' AND state <> 'succeeded'"
        #expect(try await stack.database.psql(open) == "0")
        let redeemed = "SELECT count(*), count(redeemed_at) FROM sessions WHERE event = 'sign_in'"
        let count = scale.signIns + scale.phones
        let found = try await stack.database.psql(redeemed)
        #expect(found == "\(count)|\(count)")
    }

    /// Signs in as an app does, which repeats a request without an answer; returns the status of the request for the tokens.
    private static func signIn(_ owner: SignedInOwner) async throws -> String {
        let (photos, key) = (try Photos.variants(of: Photos.sameFace), UUID().uuidString)
        let login = try await repeated {
            try await owner.phone.signIn(email: owner.email, photos: photos, key: key, by: owner.device)
        }
        let outcome = try await eventually("the session ends") {
            let record = try? await owner.phone.get("/api/v1/ekyc/sessions/\(login.sessionID)?wait=30", bearer: login.sessionToken)
            let state = record?.body["data"]["state"].text
            return ["succeeded", "failed", "expired"].contains(state) ? record?.body["data"]["reason"].text ?? state : nil
        }
        guard outcome == "succeeded" else { return outcome }
        let path = "/api/v1/ekyc/sessions/\(login.sessionID)/token"
        let grant = try await repeated { try await owner.phone.send("POST", path, bearer: login.sessionToken, by: owner.device) }
        return [grant.status.description, grant.body["error"]["code"].text].compactMap(\.self).joined(separator: " ")
    }

    /// Repeats a request until it has an answer that is not about the service itself.
    private static func repeated(_ request: () async throws -> Answer) async throws -> Answer {
        try await eventually("the API answers") {
            guard let answer = try? await request(), answer.status < 500, answer.body["error"]["code"].text != "request_in_progress" else {
                return nil
            }
            return answer
        }
    }

    /// Kills a service, and starts it again.
    private static func kill(_ service: String, of stack: Stack) async throws {
        if service == "face-matching-worker" {
            // A session whose worker dies twice is given up, as its photos may be the cause (`PermanentFailure.maxCrashes`).
            let interrupted = "SELECT count(*) FROM sessions WHERE state = 'processing' AND started_at < now() - interval '2 seconds'"
            try await eventually("the sessions of the worker that was killed before end") {
                try await stack.database.psql(interrupted) == "0"
            }
        }
        await stack.kill(service)
        try stack.launch(service)
        try await stack.waitUntilReady(service)
    }
}
