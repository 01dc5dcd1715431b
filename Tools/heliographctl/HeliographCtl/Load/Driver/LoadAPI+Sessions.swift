/// Requests of sign-up and sign-in.
extension LoadAPI {
    /// A session that was started.
    struct Session {
        let id: String
        let token: String
    }

    /// Uploads nine photos of a person for a new account.
    func signUp(_ email: String, _ phone: String, _ person: LoadPerson, number: Int) async throws(LoadFailure) -> Session {
        var form = LoadForm()
        form.add("fcm_token", phone)
        form.add("email", email)
        for (field, photos) in [("left_faces", person.left), ("right_faces", person.right), ("front_faces", person.front)] {
            for photo in photos.three(number) { form.add(field, photo) }
        }
        return try await session(try await send("POST", "/api/v1/ekyc/upload-photos", form: form, for: .answer))
    }

    /// Uploads three photos of an account's person.
    func signIn(_ account: LoadAccount, number: Int) async throws(LoadFailure) -> Session {
        var form = LoadForm()
        form.add("email", account.email)
        form.add("fcm_token", account.phone)
        for photo in account.person.signIn.three(number) { form.add("faces", photo) }
        return try await session(try await send("POST", "/api/v1/ekyc/login", form: form, for: .answer))
    }

    private func session(_ reply: Reply) async throws(LoadFailure) -> Session {
        guard let id = reply.body.data?.sessionId, let token = reply.sessionToken else {
            throw LoadFailure(at: .answer, "a response without a session")
        }
        return Session(id: id, token: token)
    }

    /// Waits for the outcome of a session: `succeeded`, `expired`, or `failed` with its reason.
    func outcome(of session: Session) async throws(LoadFailure) -> String {
        try await wait(for: "/api/v1/ekyc/sessions/\(session.id)", bearer: session.token, stage: .done) { answer in
            guard let state = answer.data?.state, ["succeeded", "failed", "expired"].contains(state) else { return nil }
            return answer.data?.reason.map { "\(state): \($0)" } ?? state
        }
    }

    /// Exchanges a sign-in that succeeded for tokens.
    func redeem(_ session: Session) async throws(LoadFailure) -> LoadAccount.Tokens {
        let reply = try await send("POST", "/api/v1/ekyc/sessions/\(session.id)/token", bearer: session.token, for: .done)
        guard let tokens = LoadAccount.Tokens(reply.body) else { throw LoadFailure(at: .done, "a response without tokens") }
        return tokens
    }

    /// Exchanges tokens for new ones.
    func refresh(_ tokens: LoadAccount.Tokens) async throws(LoadFailure) -> LoadAccount.Tokens {
        let reply = try await send("POST", "/api/v1/auth/refresh", json: ["refresh_token": tokens.refresh], for: nil)
        guard let tokens = LoadAccount.Tokens(reply.body) else { throw LoadFailure(at: nil, "a response without tokens") }
        return tokens
    }
}
