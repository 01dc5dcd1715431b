internal import Foundation
internal import MobileClient
internal import Synchronization

/// The first half of the story: faces.
extension DemoStory {
    func proveAddress(_ email: String, on phone: DemoPhone) async throws -> String {
        begin("0. A proves an e-mail address", isShown: true)
        let verification = try await phone.client.account.register(email: email)
        let mail = try await emulator.mail(to: email, wait: patience)
        guard let code = EmulatorControl.code(in: mail.text, for: verification.reference) else {
            throw Difference(description: "the mail has no code")
        }
        try expect("the mail's subject", "\(code) is your code", mail.subject)
        let verified = try await phone.client.account.verify(verification.id, code: code)
        guard case .registration(let token, _) = verified else { throw Difference(description: "no enrolment token: \(verified)") }
        step("POST /v1/auth/register", console.green("202") + " the reference \(verification.reference)")
        step("mail", "to \(mail.to): \(mail.subject)")
        step("POST /v1/auth/verify", console.green("200") + " an enrolment token\n")
        return token
    }

    func signUp(_ token: String, on phone: DemoPhone) async throws -> String {
        let consent = try await phone.client.account.consent()
        return try await play(
            "1. A signs up",
            Expectation(
                event: "sign_up", path: "upload-photos", message: "Photos uploaded successfully", state: "succeeded",
                title: "eKYC Sign Up", body: "Face registration completed successfully."), on: phone
        ) { client in
            try await client.ekyc.signUp(self.photos.signUp(), as: .enrolment(token: token), consent: consent?.version)
        }.user
    }

    func signIn(_ email: String, as enrolled: String, on phone: DemoPhone) async throws {
        let (user, session, outcome) = try await play(
            "2. A signs in",
            Expectation(
                event: "sign_in", path: "login", message: "Login event published successfully", state: "succeeded",
                title: "eKYC Sign In", body: "Face verification successful."), on: phone, mailingCodesTo: email
        ) { client in try await client.ekyc.signIn(PhotoBook.copies(self.photos.signIn, nil), email: email) }
        try expect("the push's user", enrolled, user)
        try expect("the user who is signed in", "\(EKYCSession.Outcome.signedIn(userID: enrolled))", "\(outcome)")
        // Only the session's own device can turn the success into a login, and each of its requests is of one use.
        let end = "/sessions/\(session)/token"
        guard let redeemed = phone.network.exchanges("POST", end).last(where: { $0.answer.status == 200 }) else {
            throw Difference(description: "the app has not redeemed its session")
        }
        var stolen = redeemed.request
        stolen.headers["Authorization"] = "Bearer nonsense"
        let refusal = try await phone.network.send(stolen, maxBytes: 1 << 20).status
        guard [401, 403, 404].contains(refusal) else { throw Difference(description: "a stranger's token request got HTTP \(refusal)") }
        try expect("the token's user", enrolled, redeemed.json["user_id"] as? String ?? "")
        let access = redeemed.json["access_token"] as? String ?? ""
        guard access.count >= 32 else { throw Difference(description: "no access token") }
        let copied = try await phone.network.send(redeemed.request, maxBytes: 1 << 20)
        let error = ((try? JSONSerialization.jsonObject(with: copied.body)) as? [String: Any])?["error"] as? [String: Any]
        try expect("the copied request", "401 invalid_dpop_proof", "\(copied.status) \(error?["code"] as? String ?? "")")
        step("POST /sessions/{id}/token", console.green("200") + " an access token for user \(enrolled)")
        step("", "a stranger gets \(refusal), and so does a copy of the request, whose proof was used\n")
    }

    func refuseStranger(_ email: String, on phone: DemoPhone) async throws {
        _ = try await play(
            "3. B tries as A",
            Expectation(
                event: "sign_in", path: "login", message: "Login event published successfully", state: "failed (no_match)",
                title: "eKYC Sign In", body: "Face verification failed. Please try again."), on: phone
        ) { client in try await client.ekyc.signIn(PhotoBook.copies(self.photos.stranger, nil), email: email) }
    }

    /// One case, from the photos to the push and to the outcome in the app.
    private func play(
        _ name: String, _ wanted: Expectation, on phone: DemoPhone, mailingCodesTo email: String? = nil,
        _ start: @escaping @Sendable (HeliographClient) async throws -> EKYCSession
    ) async throws -> (user: String, session: String, outcome: EKYCSession.Outcome) {
        begin(name, isShown: true)
        let session = try await start(phone.client)
        let push = try await self.push(after: phone)
        await phone.bring(push)
        guard let upload = phone.network.exchanges("POST", "/ekyc/\(wanted.path)").last else {
            throw Difference(description: "the photos were not uploaded")
        }
        let id = upload.data["session_id"] as? String ?? ""
        let answer = upload.json
        try expect(
            "the answer", "200 true 0 \(wanted.message) [\"session_id\"]",
            "\(upload.answer.status) \(answer["success"] as? Bool ?? false) \(answer["code"] as? Int ?? -1) "
                + "\(answer["message"] as? String ?? "") \(upload.data.keys.sorted())")
        let isSuccess = wanted.state == "succeeded"
        let milliseconds = Int(upload.seconds * 1_000)
        step("POST /api/v1/ekyc/\(wanted.path)", console.green("200") + " \(wanted.message) " + console.dim("(\(milliseconds) ms)"))
        if let email { try await enterCode(of: session, mailedTo: email) }
        let outcome = try await within(patience, "the session's outcome") { await session.result() }
        await session.acknowledge()
        let state = AppProcess.name(outcome)
        let found = ["enrolled", "signed in"].contains(state.0) ? "succeeded" : state.0
        try expect("the session's state", wanted.state, found)
        step("session state", isSuccess ? console.green(found) : console.red(found))
        let pushes = try await emulator.pushes(to: phone.token, wait: 0).filter { $0.data["session_id"] == id }
        try expect("the number of pushes", "1", "\(pushes.count)")
        try expect("the push's title", wanted.title, push.title)
        try expect("the push's body", wanted.body, push.body)
        let keys = Set(push.data.keys).subtracting(["notificationId", "kind", "type", "v"]).sorted()
        try expect(
            "the push's data", "\(wanted.event) \(isSuccess) [\"event\", \"session_id\", \"success\", \"user_id\"]",
            "\(push.data["event"] ?? "") \(push.data["success"] ?? "") \(keys)")
        guard let user = push.data["user_id"] else { throw Difference(description: "the push names no user") }
        let taken = Self.milliseconds(from: upload.sentAt, to: push.receivedAt)
        show(push, taken)
        table.withLock {
            $0.append(Row(cells: [name, "200 \(wanted.message)", found, "\(push.title): \(push.body)", "\(taken)"]))
        }
        return (user, id, outcome)
    }

    /// Enters the code of a sign-in, if the device is new to the account (`SIGN_IN_NEW_DEVICE`).
    private func enterCode(of session: EKYCSession, mailedTo email: String) async throws {
        for await state in session.states {
            guard case .awaitingCode(_, let awaited, _) = state else { continue }
            let reference = awaited.reference ?? ""
            step("POST /sessions/{id}/token", console.red("403") + " verification_required: a new device, with the reference \(reference)")
            step("", console.dim("the mail comes 45 s after the last one to this address"))
            guard let code = try await emulator.code(to: email, beside: reference, wait: patience) else {
                throw Difference(description: "no code is mailed for \(reference)")
            }
            step("mail", "to \(email): \(code) for \(reference)")
            return await session.enter(code: code)
        }
    }

    private func push(after phone: DemoPhone) async throws -> EmulatorControl.Push {
        guard let push = try await emulator.pushes(to: phone.token, wait: patience).last else {
            throw Difference(description: "the number of pushes should be '1' but is '0'")
        }
        return push
    }

    func show(_ push: EmulatorControl.Push, _ milliseconds: Int) {
        let card = PhoneCard(title: push.title, body: push.body, time: Self.clock(push.receivedAt), milliseconds: milliseconds)
        card.lines(console).forEach { console.result($0) }
    }

    // MARK: Times

    static func date(_ stamp: String) -> Date? {
        (try? Date(stamp, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true)))
            ?? (try? Date(stamp, strategy: .iso8601))
    }

    static func milliseconds(from start: Date, to stamp: String) -> Int {
        date(stamp).map { Int($0.timeIntervalSince(start) * 1_000) } ?? 0
    }

    /// The local time of a stamp: `09:41:07`.
    static func clock(_ stamp: String) -> String {
        guard let date = date(stamp) else { return stamp }
        let parts = Calendar.current.dateComponents([.hour, .minute, .second], from: date)
        return [parts.hour, parts.minute, parts.second].map { number in
            let number = number ?? 0
            return number < 10 ? "0\(number)" : "\(number)"
        }.joined(separator: ":")
    }
}
