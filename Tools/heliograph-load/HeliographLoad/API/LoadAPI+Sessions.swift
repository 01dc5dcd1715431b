internal import Foundation
internal import JSON
internal import Multipart

/// Requests of sign-up and sign-in.
extension LoadAPI {
    /// A session that was started.
    struct Session {
        let id: String
        let token: String
    }

    /// Asks for a code by mail; returns the id of the verification.
    func register(_ email: String) async throws(LoadFailure) -> String {
        let reply = try await send("POST", "/v1/auth/register", json: ["email": email], for: .answer)
        return try Self.text("verification_id", in: reply)
    }

    /// Enters a mailed code; returns the enrolment token, by which a sign-up is of a proven e-mail, and a sign-in needs no other code.
    func verify(_ verification: String, code: String) async throws(LoadFailure) -> String {
        let reply = try await send("POST", "/v1/auth/verify", json: ["verification_id": verification, "code": code], for: .done)
        return try Self.text("enrolment_token", in: reply)
    }

    private static func text(_ member: String, in reply: Reply) throws(LoadFailure) -> String {
        guard let text = reply.body["data"]?[member]?.string else { throw LoadFailure(at: .answer, "a response without \(member)") }
        return text
    }

    /// Uploads nine photos of a person for a new account, whose e-mail is proven afterwards.
    func signUp(_ email: String, _ phone: String, _ person: LoadPerson, number: Int) async throws(LoadFailure) -> Session {
        var form = MultipartForm()
        form.add("email", email)
        return try await start("upload-photos", nil, form, phone, person.signUp, number: number)
    }

    /// Uploads nine photos of a person for a new account, by the enrolment token of its e-mail.
    func signUp(_ account: LoadAccount, provenBy token: String, number: Int) async throws(LoadFailure) -> Session {
        try await start("upload-photos", token, MultipartForm(), account.phone, account.person.signUp, number: number)
    }

    /// Uploads three photos of an account's person.
    ///
    /// - Parameter token: The enrolment token of the account's e-mail, which a phone that is new to the account has in place of a code.
    func signIn(_ account: LoadAccount, provenBy token: String? = nil, number: Int) async throws(LoadFailure) -> Session {
        var form = MultipartForm()
        form.add("email", account.email)
        return try await start("login", token, form, account.phone, [("faces", account.person.signIn)], number: number)
    }

    private func start(
        _ path: String, _ bearer: String?, _ form: MultipartForm, _ phone: String, _ photos: [(String, [LoadPicture])], number: Int
    ) async throws(LoadFailure) -> Session {
        var form = form
        form.add("fcm_token", phone)
        for (field, pictures) in photos {
            for picture in pictures.three(number) { form.add(field, picture) }
        }
        // Without retries no key is sent, because keeping the answer for a repetition is work that is measured.
        let key = retries.time > .zero ? UUID() : nil
        let reply = try await send("POST", "/api/v1/ekyc/\(path)", bearer: bearer, form: form, key: key, for: .answer)
        guard let id = reply.body["data"]?["session_id"]?.string, let token = reply.sessionToken else {
            throw LoadFailure(at: .answer, "a response without a session")
        }
        return Session(id: id, token: token)
    }

    /// Waits for the outcome of a session: `succeeded`, `expired`, or `failed` with its reason.
    func outcome(of session: Session) async throws(LoadFailure) -> String {
        try await wait(for: "/api/v1/ekyc/sessions/\(session.id)", bearer: session.token, stage: .done) { session in
            guard let state = session["state"]?.string, ["succeeded", "failed", "expired"].contains(state) else { return nil }
            return session["reason"]?.string.map { "\(state): \($0)" } ?? state
        }
    }

    /// Exchanges a sign-in that succeeded for tokens.
    func redeem(_ session: Session) async throws(LoadFailure) -> LoadAccount.Tokens {
        try tokens(of: try await send("POST", "/api/v1/ekyc/sessions/\(session.id)/token", bearer: session.token, for: .done), .done)
    }

    /// Exchanges tokens for new ones.
    func refresh(_ tokens: LoadAccount.Tokens) async throws(LoadFailure) -> LoadAccount.Tokens {
        try self.tokens(of: try await send("POST", "/api/v1/auth/refresh", json: ["refresh_token": tokens.refresh], for: nil), nil)
    }

    /// Returns the tokens of a response, which has no envelope, as OAuth requires.
    private func tokens(of reply: Reply, _ stage: LoadStage?) throws(LoadFailure) -> LoadAccount.Tokens {
        let body = reply.body
        guard let access = body["access_token"]?.string, let refresh = body["refresh_token"]?.string,
            let userID = body["user_id"]?.string, let lifetime = body["expires_in"]?.double
        else { throw LoadFailure(at: stage, "a response without tokens") }
        return LoadAccount.Tokens(access: access, refresh: refresh, expiry: .now + .seconds(lifetime), userID: userID)
    }
}

extension MultipartForm {
    /// Adds a picture as a file.
    mutating func add(_ name: String, _ picture: LoadPicture) { add(name, file: "photo", type: picture.type, picture.bytes) }
}
