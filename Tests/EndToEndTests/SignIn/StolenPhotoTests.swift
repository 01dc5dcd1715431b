import TestSupport
import Testing

/// What photos of a person and their e-mail address open on a device that the account does not know (docs/THREAT-MODEL.md, T57).
@Suite struct StolenPhotoTests {
    @Test(arguments: StolenPhotos.allCases)
    func `photos of the owner give a stranger's device no tokens, whether the face passes or not`(photos: StolenPhotos) async throws {
        let owner = try await SignedInOwner.make(try await Stack.shared())
        var result = AttackResult(photos.rawValue)
        for number in 0..<SignInScale.current.attempts {
            // Half of the strangers have a key, and the first enters a code by chance.
            let (thief, device) = (try await Phone.make(owner.phone.stack), number % 2 == 0 ? nil : try DeviceSigner())
            let challenge = photos.answersChallenge ? try await thief.challenge() : nil
            let login = try await thief.signIn(
                email: owner.email, photos: try photos.files(challenge?.poses ?? []), challenge: challenge?.id, by: device)
            guard login.status == 200 else {
                result.add("the upload gets \(login.status) \(login.body["error"]["code"].text ?? "")", isSuccess: false)
                continue
            }
            let outcome = try await thief.outcome(of: login)
            let path = "/api/v1/ekyc/sessions/\(login.sessionID)/token"
            var answer = try await thief.send("POST", path, bearer: login.sessionToken, by: device)
            if number == 0, answer.status == 403 {
                answer = try await thief.send("POST", path, json: #"{"code":"000000"}"#, bearer: login.sessionToken, by: device)
            }
            let state = outcome["reason"].text ?? outcome["state"].text ?? ""
            result.add("\(state), then \(answer.status) \(answer.body["error"]["code"].text ?? "")", isSuccess: answer.status == 200)
        }
        result.report()
        #expect(result.successes == 0, "\(result)")
        #expect(try await owner.renew(owner.refresh).status == 200, "the owner stays signed in")
    }
}
