import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing

struct InstallHandOverTests {
    private var handOvers: InstallHandOverRepository { InstallHandOverRepository(client) }

    /// Claims the installation 1, whose user has the value 1.
    private func open(_ value: Int, by userID: UUID, nonce: Int = 7) async throws -> InstallClaim {
        try await client.withTransaction { transaction in
            try await InstallHandOverRepository(transaction).open(
                NewInstallHandOver(
                    registration: .make(1, value: value), userID: userID, signInID: nil, nonceHash: hash(nonce)))
        }
    }

    @Test(.storage) func `a claimed value gets a row of its own, which is not deleted while the claim is pending`() async throws {
        let (ada, ben) = (try await client.user(1), try await client.user(2))
        let held = try await client.register(.make(1, value: 1), ada).install
        guard case .opened(let claim, let checked) = try await open(1, by: ben) else { return #expect(Bool(false)) }
        #expect(claim.formerUserID == ada && claim.installID == checked && checked != held.id)
        #expect(try await client.withTransaction { try await PushInstallRepository($0).deleteUnneeded(ids: [checked]) } == 0)
        try await installs.unregister(installationKey: held.installationKey, userID: ada)
        let taken = try await client.withTransaction { try await InstallHandOverRepository($0).complete(claim) }
        #expect(taken?.install.id == checked && taken?.install.userID == ben)
    }

    @Test(.storage) func `a claim that is rolled back after the change of user leaves the former user`() async throws {
        struct Died: Error {}
        let (ada, ben) = (try await client.user(1), try await client.user(2))
        let held = try await client.register(.make(1, value: 1), ada).install
        guard case .opened(let claim, _) = try await open(2, by: ben) else { return #expect(Bool(false)) }
        await #expect(throws: Died.self) {
            try await client.withTransaction { transaction in
                #expect(try await InstallHandOverRepository(transaction).complete(claim) != nil)
                throw Died()
            }
        }
        #expect(try await client.installs([held.installationKey]).filter { $0.userID != nil } == [held])
        let taken = try await client.withTransaction { try await InstallHandOverRepository($0).complete(claim) }
        #expect(taken?.install.id == held.id && taken?.install.userID == ben, "the nonce still counts")
    }

    @Test(.storage) func `a third user's installation is not taken by an older claim`() async throws {
        let (ada, ben, cem) = (try await client.user(1), try await client.user(2), try await client.user(3))
        _ = try await client.register(.make(1, value: 1), ada)
        guard case .opened(let claim, _) = try await open(1, by: ben) else { return #expect(Bool(false)) }
        _ = try await client.register(.make(1, value: 1), cem)
        #expect(try await client.withTransaction { try await InstallHandOverRepository($0).complete(claim) } == nil)
    }

    @Test(.storage) func `claims are kept for an hour, and erased with either user`() async throws {
        let (ada, ben) = (try await client.user(1), try await client.user(2))
        _ = try await client.register(.make(1, value: 1), ada)
        guard case .opened(let claim, _) = try await open(1, by: ben) else { return #expect(Bool(false)) }
        #expect(try await handOvers.find(id: claim.id, nonceHash: hash(7), of: ben) == claim)
        #expect(try await handOvers.find(id: claim.id, nonceHash: hash(8), of: ben) == nil)
        #expect(try await handOvers.find(id: claim.id, nonceHash: hash(7), of: ada) == nil)
        #expect(try await handOvers.deleteExpired(limit: 10) == 0)
        try await client.execute("UPDATE install_hand_overs SET created_at = now() - interval '61 minutes'")
        #expect(try await handOvers.deleteExpired(limit: 10) == 1)
        for (user, nonce) in [(ada, 8), (ben, 9)] {
            _ = try await client.register(.make(1, value: 1), ada)
            _ = try await open(1, by: ben, nonce: nonce)
            _ = try await client.withTransaction { try await PushInstallRepository($0).erase(userID: user) }
            #expect(try await client.query("SELECT id FROM install_hand_overs").isEmpty)
        }
    }
}
