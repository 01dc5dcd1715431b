internal import Foundation

/// Makes the accounts that a load needs, before it begins.
struct LoadFounder: Sendable {
    /// How many accounts are made at once: each is nine photos for a worker.
    private static let atOnce = 4
    /// How often something is tried that the service asks to try later.
    private static let triesMax = 20

    let api: LoadAPI
    let photos: LoadPhotos
    let phones: LoadPhones

    /// Makes a population.
    ///
    /// - Parameter progress: is told how many accounts there are.
    /// - Throws: `LoadFailure` when one account cannot be made.
    func found(_ size: LoadPopulation.Size, progress: @Sendable (Int) -> Void) async throws -> LoadPopulation {
        let name = "load-\(UUID().uuidString.prefix(8).lowercased())"
        let total = size.members + size.owners
        var accounts: [Int: LoadAccount] = [:]
        try await withThrowingTaskGroup(of: (Int, LoadAccount).self) { group in
            for number in 0..<total {
                if number >= Self.atOnce, let (made, account) = try await group.next() {
                    accounts[made] = account
                    progress(accounts.count)
                }
                group.addTask {
                    (number, try await make(LoadPopulation.email(name, number + 1), number, isOwner: number >= size.members))
                }
            }
            for try await (made, account) in group {
                accounts[made] = account
                progress(accounts.count)
            }
        }
        let all = (0..<total).compactMap { accounts[$0] }
        let owners = Array(all[size.members...])
        for (index, owner) in owners.enumerated() { try await makeTopic(of: owner, with: owners[(index + 1) % owners.count]) }
        return LoadPopulation(name: name, count: total, members: Array(all[..<size.members]), owners: owners)
    }

    private func make(_ email: String, _ number: Int, isOwner: Bool) async throws -> LoadAccount {
        let account = LoadAccount(
            email: email, phone: try await phones.next(), person: photos.people[number % photos.people.count])
        let enrolment = try await insisting { () async throws(LoadFailure) in
            try await api.signUp(account.email, account.phone, account.person, number: number)
        }
        try await check(enrolment)
        guard isOwner else { return account }
        let login = try await insisting { () async throws(LoadFailure) in try await api.signIn(account, number: number) }
        try await check(login)
        account.hold(try await api.redeem(login))
        return account
    }

    private func check(_ session: LoadAPI.Session) async throws(LoadFailure) {
        let outcome = try await api.outcome(of: session)
        guard outcome == "succeeded" else { throw LoadFailure(at: .done, outcome) }
    }

    /// Makes an owner's event, with another member who gets the pushes about its photos: invited, and accepting.
    private func makeTopic(of owner: LoadAccount, with other: LoadAccount) async throws {
        for (account, user) in [(owner, "me"), (owner, other.tokens?.userID ?? "me"), (other, "me")] {
            _ = try await insisting { () async throws(LoadFailure) in
                try await api.send(
                    "PUT", "/v1/topics/\(owner.topic)/members/\(user)", bearer: try account.bearer(for: nil), for: .answer)
            }
        }
    }

    /// Tries again what the service asks to try later.
    private func insisting<Value>(_ body: () async throws(LoadFailure) -> Value) async throws -> Value {
        for _ in 1..<Self.triesMax {
            do throws(LoadFailure) { return try await body() } catch {
                guard let wait = error.wait else { throw error }
                try await Task.sleep(for: wait)
            }
        }
        return try await body()
    }
}
