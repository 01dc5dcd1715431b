import Accounts
import FCMEmulator
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct FirebaseRefusalTests {
    @Test func `every faulty token gets the same answer as an unknown access token, and makes no account`() async throws {
        try await FirebaseFixture.with { firebase in
            var answers: Set<String> = []
            func refuse(_ token: String) async throws {
                let answer = try await firebase.list(token)
                #expect(answer.refusal == "401 unauthorized" && answer.header("WWW-Authenticate") == "Bearer")
                answers.insert(answer.json.text("message") ?? "")
            }
            for fault in IDTokenFault.allCases { try await refuse(firebase.token(of: "eve") { $0.fault = fault }) }
            try await refuse(firebase.token(of: "eve") { $0.project = "another-project" })
            try await refuse(firebase.token(of: "eve") { $0.expiresIn = 0 })
            try await refuse(firebase.token(of: "eve") { $0.signedInAt = Int(Date().timeIntervalSince1970) + 600 })
            try await refuse("a.b.c")
            try await refuse(OpaqueToken.generate().text)
            #expect(answers.count == 1)
            #expect(try await firebase.api.count("users") + firebase.api.count("identities") == 0)
        }
    }

    @Test(.api) func `without a project no ID token is accepted`() async throws {
        let headers = [(name: "Authorization", value: "Bearer \(GoldenIDToken.text)")]
        #expect(try await api.send("GET", Path.jobs, headers: headers).refusal == "401 unauthorized")
        #expect(try await api.send("POST", "/api/v1/auth/logout", headers: headers).refusal == "401 unauthorized")
    }

    @Test func `a clock that is a little ahead is no fault`() async throws {
        try await FirebaseFixture.with { firebase in
            for (seconds, status) in [(30.0, 200), (600, 401)] {
                firebase.emulator.advanceClock(seconds: seconds)
                let token = try await firebase.token(of: "ada")
                #expect(try await firebase.list(token).status == status)
            }
        }
    }

    @Test func `fifty first requests of a person make one account`() async throws {
        try await FirebaseFixture.with { firebase in
            let token = try await firebase.token(of: "ada")
            let statuses = try await race(50) { _ in try await firebase.list(token).status }
            #expect(Set(statuses) == [200])
            #expect(try await firebase.api.count("users") == 1)
            #expect(try await firebase.api.count("identities") == 1)
            #expect(firebase.emulator.statistics.keyFetches == 1, "they shared the fetch of the keys")
        }
    }

    @Test func `an account has neither an e-mail nor the account of its token's e-mail`() async throws {
        try await FirebaseFixture.with { firebase in
            let owner = try await firebase.api.signedInDevice(email: "ada@example.org")
            #expect(try await firebase.list(firebase.token(of: "eve") { $0.email = "ada@example.org" }).status == 200)
            let rows = try await firebase.api.postgres.query("SELECT id, email_sealed FROM users WHERE id <> \(owner.userID)")
            try #require(rows.count == 1)
            #expect(try rows[0].decode("email_sealed", as: [UInt8]?.self) == nil)
        }
    }

    @Test func `tokens of sign-ins before a revocation are refused, and those of later ones are accepted`() async throws {
        try await FirebaseFixture.with { firebase in
            let old = try await firebase.token(of: "ada") { $0.signedInAt = Int(Date().timeIntervalSince1970) - 10 }
            #expect(try await firebase.list(old).status == 200)
            let user: UUID = try await firebase.api.postgres.query("SELECT id FROM users")[0].decode("id")
            #expect(try await FederatedIdentityRepository(firebase.api.postgres).revokeAll(userID: user))
            #expect(try await firebase.list(old).refusal == "401 unauthorized", "although its signature is known")
            let refreshed = try await firebase.token(of: "ada") { $0.signedInAt = Int(Date().timeIntervalSince1970) - 10 }
            #expect(try await firebase.list(refreshed).refusal == "401 unauthorized", "a refresh is no sign-in")
            let new = try await firebase.token(of: "ada") { $0.signedInAt = Int(Date().timeIntervalSince1970) + 2 }
            #expect(try await firebase.list(new).status == 200)
            #expect(try await firebase.api.count("users") == 1)
        }
    }

    @Test func `a person ends their sign-ins with Firebase, all or all but the current one`() async throws {
        try await FirebaseFixture.with { firebase in
            let now = Int(Date().timeIntervalSince1970)
            let old = try await firebase.token(of: "ada") { $0.signedInAt = now - 100 }
            let current = try await firebase.token(of: "ada") { $0.signedInAt = now - 50 }
            func end(_ query: String) async throws -> Int {
                let headers = [(name: "Authorization", value: "Bearer \(current)")]
                return try await firebase.api.send("DELETE", IdentityFixture.sessions + query, headers: headers).status
            }
            #expect(try await firebase.list(old).status == 200)
            let others = try await end("?except=current")
            #expect(others == 204)
            #expect(try await firebase.list(old).status == 401)
            #expect(try await firebase.list(current).status == 200)
            let all = try await end("")
            #expect(all == 204)
            #expect(try await firebase.list(current).status == 401)
        }
    }

    @Test func `the time of the sign-in is known`() async throws {
        try await FirebaseFixture.with { firebase in
            let time = Int(Date().timeIntervalSince1970) - 100
            let token = try await firebase.token(of: "ada") { $0.signedInAt = time }
            var configuration = FirebaseConfiguration(project: FirebaseProject(id: firebase.emulator.configuration.projectID))
            configuration.keysURL = firebase.emulator.idTokenKeysURL
            let (authenticator, services) = configuration.make(firebase.api.context, keys: firebase.api.keys)
            let identity = try await authenticator.authenticate(bearer: token)
            for case let http as HTTPClient in services { await http.shutdown() }
            #expect(identity?.authenticatedAt == GoldenIDToken.time(time) && identity?.signInID == nil)
        }
    }
}
