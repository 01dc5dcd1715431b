internal import Foundation

/// Creates the accounts and topics of a load before it begins.
struct AccountSeeder: Sendable {
    /// Accounts created at once: each is nine photos for a worker.
    private static let concurrency = 4
    /// Attempts of a request that the service asks to repeat later.
    private static let maxAttempts = 20

    let api: LoadAPI
    let photos: LoadPhotos
    let phones: LoadPhones
    let mails: LoadMails

    /// Creates a population.
    ///
    /// - Parameter progress: called with the number of accounts created so far.
    /// - Throws: `LoadFailure` when an account cannot be created.
    func seed(_ size: LoadPopulation.Size, progress: @Sendable (Int) -> Void) async throws -> LoadPopulation {
        let name = "load-\(UUID().uuidString.prefix(8).lowercased())"
        let total = size.members + size.owners
        var all: [LoadAccount] = []
        for first in stride(from: 0, to: total, by: Self.concurrency) {
            all += try await withThrowingTaskGroup(of: (Int, LoadAccount).self) { group in
                for number in first..<min(first + Self.concurrency, total) {
                    group.addTask {
                        (number, try await make(LoadPopulation.email(name, number + 1), number))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
            progress(all.count)
        }
        let owners = Array(all[size.members...])
        for (index, owner) in owners.enumerated() { try await makeTopic(of: owner, with: owners[(index + 1) % owners.count]) }
        return LoadPopulation(name: name, count: total, members: Array(all[..<size.members]), owners: owners)
    }

    private func make(_ email: String, _ number: Int) async throws -> LoadAccount {
        let account = LoadAccount(
            email: email, phone: try await phones.next(), person: photos.people[number % photos.people.count])
        let verification = try await retrying { () async throws(LoadFailure) in try await api.register(account.email) }
        let code = try await mails.code(to: account.email)
        let token = try await retrying { () async throws(LoadFailure) in try await api.verify(verification, code: code) }
        try await check(
            try await retrying { () async throws(LoadFailure) in try await api.signUp(account, provenBy: token, number: number) })
        // The account knows its phone then, so that its sign-ins during the load need no codes.
        let login = try await retrying { () async throws(LoadFailure) in
            try await api.signIn(account, provenBy: token, number: number)
        }
        try await check(login)
        account.store(try await api.redeem(login))
        return account
    }

    private func check(_ session: LoadAPI.Session) async throws(LoadFailure) {
        let outcome = try await api.outcome(of: session)
        guard outcome == "succeeded" else { throw LoadFailure(at: .done, outcome) }
    }

    /// Creates an owner's event topic, and has another account join it by invitation to receive the pushes about its photos.
    private func makeTopic(of owner: LoadAccount, with other: LoadAccount) async throws {
        for (account, user) in [(owner, "me"), (owner, other.tokens?.userID ?? "me"), (other, "me")] {
            _ = try await retrying { () async throws(LoadFailure) in
                try await api.send(
                    "PUT", "/v1/topics/\(owner.topic)/members/\(user)", bearer: try account.bearer(for: nil), for: .answer)
            }
        }
    }

    /// Repeats a request after the Retry-After of the service.
    private func retrying<Value>(_ body: () async throws(LoadFailure) -> Value) async throws -> Value {
        for _ in 1..<Self.maxAttempts {
            do throws(LoadFailure) { return try await body() } catch {
                guard let wait = error.wait else { throw error }
                try await Task.sleep(for: wait)
            }
        }
        return try await body()
    }
}
