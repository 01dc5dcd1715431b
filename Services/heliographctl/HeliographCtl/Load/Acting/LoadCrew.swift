internal import Foundation

/// Does what people do, one thing at a time for each arrival, and records how far it came and when.
struct LoadCrew: Sendable {
    let api: LoadAPI
    let photos: LoadPhotos
    /// The ids of the styles that pictures can be made in.
    let templates: [String]
    let phones: LoadPhones
    /// Nil when nobody can see them.
    let pushes: LoadPushes?
    let population: LoadPopulation
    let recorder: LoadRecorder

    /// Does one thing to its end.
    func perform(_ arrival: Arrival) async {
        recorder.begin(arrival)
        do throws(LoadFailure) {
            let subject: String?
            switch arrival.kind {
            case .signIn: subject = try await signIn(arrival)
            case .signUp: subject = try await signUp(arrival)
            case .image: subject = try await makeImage(arrival)
            case .upload: subject = try await addPhoto(arrival)
            }
            if let subject, let pushes {
                guard let instant = await pushes.arrival(of: subject, within: api.patience) else {
                    throw LoadFailure(at: .push, "not within \(HumanUnits.age(api.patience))")
                }
                recorder.reach(.push, arrival, at: instant)
            }
            recorder.finish(arrival, nil)
        } catch {
            recorder.finish(arrival, error)
        }
    }

    private func signIn(_ arrival: Arrival) async throws(LoadFailure) -> String {
        try await lending(population.members) { account throws(LoadFailure) in
            let session = try await api.signIn(account, number: arrival.number)
            recorder.reach(.answer, arrival)
            try await end(of: session, arrival)
            // An app is signed in with its tokens, which is not part of how long the face took.
            account.hold(try await api.redeem(session))
            return session.id
        }
    }

    private func signUp(_ arrival: Arrival) async throws(LoadFailure) -> String {
        let phone = try await phones.next()
        let person = photos.people[arrival.number % photos.people.count]
        let session = try await api.signUp(population.newEmail(), phone, person, number: arrival.number)
        recorder.reach(.answer, arrival)
        try await end(of: session, arrival)
        return session.id
    }

    private func end(of session: LoadAPI.Session, _ arrival: Arrival) async throws(LoadFailure) {
        let outcome = try await api.outcome(of: session)
        recorder.end(arrival, as: outcome)
        guard outcome == "succeeded" else { throw LoadFailure(at: .done, outcome) }
        recorder.reach(.done, arrival)
    }

    private func makeImage(_ arrival: Arrival) async throws(LoadFailure) -> String {
        try await lending(population.owners) { account throws(LoadFailure) in
            var form = LoadForm()
            form.add("template_id", templates[arrival.number % templates.count])
            form.add("device_token", account.phone)
            form.add("image", photos.pictures[arrival.number % photos.pictures.count])
            let answer = try await api.send(
                "POST", "/v1/images/process", bearer: try account.bearer(for: .answer), form: form, key: UUID(), for: .answer)
            guard let job = answer.body.data?.jobId else { throw LoadFailure(at: .answer, "an answer without a job") }
            recorder.reach(.answer, arrival)
            let bearer = try account.bearer(for: .done)
            let outcome = try await api.wait(for: "/v1/images/jobs/\(job)", bearer: bearer, stage: .done) { answer in
                guard let status = answer.data?.status, ["completed", "failed"].contains(status) else { return String?.none }
                return answer.data?.error?.code.map { "\(status): \($0)" } ?? status
            }
            recorder.end(arrival, as: outcome)
            guard outcome == "completed" else { throw LoadFailure(at: .done, outcome) }
            recorder.reach(.done, arrival)
            return job
        }
    }

    private func addPhoto(_ arrival: Arrival) async throws(LoadFailure) -> String? {
        try await lending(population.owners) { account throws(LoadFailure) in
            var form = LoadForm()
            form.add("photo", photos.pictures[arrival.number % photos.pictures.count])
            _ = try await api.send(
                "POST", "/v1/topics/\(account.topic)/photos", bearer: try account.bearer(for: .answer), form: form, key: UUID(),
                for: .answer)
            recorder.reach(.answer, arrival)
            return nil
        }
    }

    /// Does something with an account that is free for it, and leaves it alone afterwards for as long as the service asks.
    private func lending<Value>(
        _ accounts: LoadAccounts, _ body: (LoadAccount) async throws(LoadFailure) -> Value
    ) async throws(LoadFailure) -> Value {
        guard let loan = accounts.lend() else { throw LoadFailure(.notStarted, at: nil, "no account free (--accounts)") }
        do throws(LoadFailure) {
            let value = try await body(loan.account)
            accounts.giveBack(loan, restFor: nil)
            return value
        } catch {
            accounts.giveBack(loan, restFor: error.retryAfter)
            throw error
        }
    }
}
