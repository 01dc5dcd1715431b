import FCMEmulator
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// A running identity-api that accepts the ID tokens of a running emulator.
struct FirebaseFixture: Sendable {
    let api: IdentityFixture
    let emulator: FCMEmulator
    /// The clock by which keys are cached; it runs.
    let clock: ManualClock

    /// The folder with the key files of all tests, which share them because generating RSA keys takes long.
    private static let keyFiles = Result { try TemporaryDirectory() }

    /// Runs a test.
    ///
    /// - Parameter prepare: Changes the emulator before identity-api starts.
    static func with(
        _ prepare: (FCMEmulator) async throws -> Void = { _ in }, _ body: (FirebaseFixture) async throws -> Void
    ) async throws {
        var configuration = FCMEmulatorConfiguration(directory: try keyFiles.get().path)
        configuration.tlsPort = nil
        let emulator = FCMEmulator(configuration: configuration)
        try await emulator.start()
        let outcome: Result<Void, any Error>
        do {
            try await prepare(emulator)
            var firebase = FirebaseConfiguration(project: FirebaseProject(id: configuration.projectID))
            firebase.keysURL = emulator.idTokenKeysURL
            firebase.fetchTimeout = .seconds(60)
            let clock = ManualClock(isRunning: true)
            try await withIdentityAPI(clock: clock) {
                $0.firebase = firebase
                $0.limits.address.perMinute = 0
            } _: { api in
                try await body(FirebaseFixture(api: api, emulator: emulator, clock: clock))
            }
            outcome = .success(())
        } catch { outcome = .failure(error) }
        await emulator.stop()
        try outcome.get()
    }

    /// Issues an ID token of a person.
    func token(of subject: String, _ change: (inout IDTokenOrder) -> Void = { _ in }) async throws -> String {
        var order = IDTokenOrder(subject: subject)
        change(&order)
        return try await emulator.issueIDToken(order)
    }

    /// A person of the project, whose account is made by a first request.
    func person(_ subject: String) async throws -> Customer {
        let token = try await token(of: subject)
        // On a busy machine the first fetch of the keys may fail; an app repeats what gets 503, too.
        try await eventually("the token is accepted") { try await list(token).status == 200 }
        let lookups = api.keys.subjectLookups(subject, of: "https://securetoken.google.com/\(emulator.configuration.projectID)")
        let rows = try await api.postgres.query("SELECT user_id FROM identities WHERE subject_lookup = ANY(\(lookups))")
        return Customer(userID: try #require(try rows.first?.decode("user_id")), token: token)
    }

    /// Lists the jobs of the owner of a token.
    func list(_ token: String) async throws -> HTTPClientResponse {
        try await api.send("GET", Path.jobs, headers: [("Authorization", "Bearer \(token)")])
    }

    /// Sends JSON from a person's app, which names its installation.
    func json(
        _ method: String, _ path: String, _ json: String = "", by sender: Customer, on installation: String
    ) async throws -> HTTPClientResponse {
        let headers = [
            sender.bearer, ("Content-Type", "application/json"), (name: "X-Firebase-Installation-ID", value: installation),
        ]
        return try await api.send(method, path, headers: headers, body: Array(json.utf8))
    }
}
