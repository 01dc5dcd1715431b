internal import CommandLineSupport
internal import Foundation
internal import JSON
internal import Multipart

/// Performs the action of each arrival over the API, and records the stages it reaches.
struct LoadDriver: Sendable {
    let api: LoadAPI
    let photos: LoadPhotos
    /// The ids of the available picture styles.
    let templates: [String]
    let phones: LoadPhones
    /// Nil without an FCM emulator.
    let pushes: LoadPushes?
    let population: LoadPopulation
    let recorder: LoadRecorder

    /// Performs one action, and waits for its last stage.
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
        try await leasing(population.members) { account throws(LoadFailure) in
            let session = try await api.signIn(account, number: arrival.number)
            recorder.reach(.answer, arrival)
            try await awaitOutcome(of: session, arrival)
            // An app also redeems the session; its time is not part of the latency of the comparison.
            account.store(try await api.redeem(session))
            return session.id
        }
    }

    private func signUp(_ arrival: Arrival) async throws(LoadFailure) -> String {
        let phone = try await phones.next()
        let person = photos.people[arrival.number % photos.people.count]
        let session = try await api.signUp(population.newEmail(), phone, person, number: arrival.number)
        recorder.reach(.answer, arrival)
        try await awaitOutcome(of: session, arrival)
        return session.id
    }

    private func awaitOutcome(of session: LoadAPI.Session, _ arrival: Arrival) async throws(LoadFailure) {
        let outcome = try await api.outcome(of: session)
        recorder.end(arrival, as: outcome)
        guard outcome == "succeeded" else { throw LoadFailure(at: .done, outcome) }
        recorder.reach(.done, arrival)
    }

    private func makeImage(_ arrival: Arrival) async throws(LoadFailure) -> String {
        try await leasing(population.owners) { account throws(LoadFailure) in
            var form = MultipartForm()
            form.add("template_id", templates[arrival.number % templates.count])
            form.add("device_token", account.phone)
            form.add("image", photos.pictures[arrival.number % photos.pictures.count])
            let answer = try await api.send(
                "POST", "/v1/images/process", bearer: try account.bearer(for: .answer), form: form, key: UUID(), for: .answer)
            guard let job = answer.body["data"]?["job_id"]?.string else {
                throw LoadFailure(at: .answer, "a response without a job")
            }
            recorder.reach(.answer, arrival)
            let bearer = try account.bearer(for: .done)
            let outcome = try await api.wait(for: "/v1/images/jobs/\(job)", bearer: bearer, stage: .done) { job in
                guard let status = job["status"]?.string, ["completed", "failed"].contains(status) else { return String?.none }
                return job["error"]?["code"]?.string.map { "\(status): \($0)" } ?? status
            }
            recorder.end(arrival, as: outcome)
            guard outcome == "completed" else { throw LoadFailure(at: .done, outcome) }
            recorder.reach(.done, arrival)
            return job
        }
    }

    private func addPhoto(_ arrival: Arrival) async throws(LoadFailure) -> String? {
        try await leasing(population.owners) { account throws(LoadFailure) in
            var form = MultipartForm()
            form.add("photo", photos.pictures[arrival.number % photos.pictures.count])
            _ = try await api.send(
                "POST", "/v1/topics/\(account.topic)/photos", bearer: try account.bearer(for: .answer), form: form, key: UUID(),
                for: .answer)
            recorder.reach(.answer, arrival)
            return nil
        }
    }

    /// Runs an action with a leased account, and rests the account afterwards for the Retry-After of the service.
    private func leasing<Value>(
        _ accounts: LoadAccounts, _ body: (LoadAccount) async throws(LoadFailure) -> Value
    ) async throws(LoadFailure) -> Value {
        guard let account = accounts.lease() else { throw LoadFailure(.notStarted, at: nil, "no account free (--accounts)") }
        do throws(LoadFailure) {
            let value = try await body(account)
            account.release()
            return value
        } catch {
            account.release(restFor: error.retryAfter)
            throw error
        }
    }
}
