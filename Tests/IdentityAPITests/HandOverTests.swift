import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The Firebase installation id of the phone that changes hands.
private let phone = "cAbCdEfGhIjKlMnOpQrSt1"

/// An installation of another user changes hands only after the nonce that is pushed to the claimant was returned (S11 of the review).
@Suite struct HandOverTests {
    @Test(.api) func `a garbage value with a known installation id takes nothing, and its check goes to that value`() async throws {
        let ada = try await api.owner()
        let before = try await api.bound()
        let answer = try await api.register("\(phone):garbage", by: try await api.customer("mallory"))
        #expect(answer.status == 202 && answer.json.text("data.status") == "pending")
        #expect(answer.json.text("data.installation_id") == nil && answer.json.number("data.expires_in") == 600)
        #expect(try await api.bound() == before && before.map(\.userID) == [ada.userID])
        let check = try await api.check()
        #expect(try await api.value(of: check.installID) == "\(phone):garbage")
        #expect(check.push.kind == .possessionCheck && check.push.lane == .urgent)
        #expect(check.id.wireString == answer.json.text("data.handover_id"))
    }

    @Test(.api) func `a stolen push token takes nothing without the nonce, which only its phone gets`() async throws {
        let ada = try await api.owner()
        let before = try await api.bound()
        let mallory = try await api.customer("mallory")
        #expect(try await api.register("\(phone):one", by: mallory).status == 202)
        let check = try await api.check()
        #expect(try await api.value(of: check.installID) == "\(phone):one")
        for (sender, nonce) in [(mallory, OpaqueToken.generate().text), (mallory, check.id.wireString), (ada, check.nonce)] {
            #expect(try await api.confirm(check.id, nonce, by: sender).refusal == "404 not_found")
        }
        #expect(try await api.bound() == before)
    }

    @Test(.api) func `the installation passes on with the returned nonce, and the former owner's pushes end then`() async throws {
        let ada = try await api.owner()
        let ben = try await api.customer("ben")
        #expect(try await api.register("\(phone):two", by: ben).status == 202)
        #expect(try await api.bound().map(\.generation) == [1], "pushes for the owner still arrive")
        let check = try await api.check()
        let answer = try await api.confirm(check.id, check.nonce, by: ben)
        #expect(answer.status == 200)
        let install = try #require(try await api.installs().first)
        #expect(try await api.installs().count == 1, "the row of the check is gone")
        #expect(answer.json.text("data.installation_id") == install.id.wireString)
        #expect(answer.json.text("data.platform") == "ios" && answer.json.text("data.kind") == "token")
        #expect(install.userID == ben.userID && install.generation == 2)
        #expect(try await api.value(of: install.id) == "\(phone):two")
        #expect(try await api.logout(ada.token).status == 200)
        #expect(try await api.bound().map(\.userID) == [ben.userID], "a late logout of the former owner")
        #expect(try await api.logout(ben.token).status == 200)
        #expect(try await api.bound().isEmpty, "the new owner's sign-in is bound to it")
    }

    @Test(.api) func `a nonce is too late after ten minutes`() async throws {
        let ada = try await api.owner()
        let ben = try await api.customer("ben")
        _ = try await api.register("\(phone):one", by: ben)
        try await api.postgres.execute("UPDATE install_hand_overs SET expires_at = now() - interval '1 second'")
        let check = try await api.check()
        #expect(try await api.confirm(check.id, check.nonce, by: ben).refusal == "404 not_found")
        #expect(try await api.bound().map(\.userID) == [ada.userID])
    }

    @Test(.api) func `a repeated nonce has the same answer, and takes nothing back later`() async throws {
        let ada = try await api.owner()
        let ben = try await api.customer("ben")
        _ = try await api.register("\(phone):one", by: ben)
        let check = try await api.check()
        let answers = try await race(4) { _ in try await api.confirm(check.id, check.nonce, by: ben) }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.map { $0.json.text("data.installation_id") }).count == 1)
        // Ada signs in again on her phone, and proves it; Ben's nonce is of no use any more.
        _ = try await api.register("\(phone):one", by: ada)
        let back = try await api.check()
        #expect(try await api.confirm(back.id, back.nonce, by: ada).status == 200)
        #expect(try await api.confirm(check.id, check.nonce, by: ben).refusal == "404 not_found")
        #expect(try await api.bound().map(\.userID) == [ada.userID])
    }

    @Test(.api) func `of concurrent claims of two users one is confirmed`() async throws {
        _ = try await api.owner()
        let people = [try await api.customer("ben"), try await api.customer("cem")]
        var checks: [IdentityFixture.Check] = []
        for person in people {
            #expect(try await api.register("\(phone):one", by: person).status == 202)
            checks.append(try await api.check())
        }
        let proofs = checks
        let answers = try await race(2) {
            (person: $0, status: try await api.confirm(proofs[$0].id, proofs[$0].nonce, by: people[$0]).status)
        }
        #expect(answers.map(\.status).sorted() == [200, 404])
        let winner = try #require(answers.first { $0.status == 200 }).person
        #expect(try await api.bound().map(\.userID) == [people[winner].userID])
    }

    @Test(.api) func `after a logout the next user has the installation at once`() async throws {
        let ada = try await api.owner()
        let ben = try await api.customer("ben")
        #expect(try await api.register("\(phone):one", by: ben).status == 202)
        #expect(try await api.logout(ada.token).status == 200)
        #expect(try await api.register("\(phone):one", by: ben).status == 200)
        #expect(try await api.bound().map(\.userID) == [ben.userID])
    }

    @Test(.api) func `a claim outlasts the logout of the former owner`() async throws {
        let ada = try await api.owner()
        let ben = try await api.customer("ben")
        _ = try await api.register("\(phone):one", by: ben)
        #expect(try await api.logout(ada.token).status == 200)
        let check = try await api.check()
        #expect(try await api.confirm(check.id, check.nonce, by: ben).status == 200)
        #expect(try await api.bound().map(\.userID) == [ben.userID])
    }

    @Test(.api) func `a claim ends with the sign-in that made it`() async throws {
        let ada = try await api.owner()
        let ben = try await api.customer("ben")
        _ = try await api.register("\(phone):one", by: ben)
        let check = try await api.check()
        #expect(try await api.logout(ben.token).status == 200)
        #expect(try await api.confirm(check.id, check.nonce, by: ben).refusal == "401 unauthorized")
        let again = try await api.customer("ben")
        #expect(try await api.confirm(check.id, check.nonce, by: again).refusal == "404 not_found")
        #expect(try await api.bound().map(\.userID) == [ada.userID])
    }

    @Test(.api) func `a registration that is repeated at once sends no second check, and a later one replaces the claim`() async throws {
        _ = try await api.owner()
        let ben = try await api.customer("ben")
        let ids = try await race(3) { _ in try await api.register("\(phone):one", by: ben).json.text("data.handover_id") }
        #expect(Set(ids).count == 1)
        let first = try await api.check()
        #expect(try await api.checks().count == 1)
        try await api.postgres.execute("UPDATE install_hand_overs SET created_at = created_at - interval '31 seconds'")
        _ = try await api.register("\(phone):one", by: ben)
        let second = try await api.check()
        #expect(try await api.confirm(first.id, first.nonce, by: ben).refusal == "404 not_found")
        #expect(try await api.confirm(second.id, second.nonce, by: ben).status == 200)
    }

    @Test(.api) func `an account's claims are limited, and strangers cannot use up those of the phone's own token`() async throws {
        _ = try await api.owner()
        let mallory = try await api.customer("mallory")
        for number in 0..<InstallHandOverLimits.maxPerUser {
            #expect(try await api.register("\(phone):x\(number)", by: mallory).status == 202)
        }
        #expect(try await api.register("\(phone):more", by: mallory).refusal == "429 rate_limited")
        for number in 0..<InstallHandOverLimits.maxPerInstallation {
            _ = try await api.register("\(phone):y\(number)", by: try await api.customer("stranger \(number)"))
        }
        let ben = try await api.customer("ben")
        #expect(try await api.register("\(phone):z", by: ben).refusal == "429 rate_limited")
        #expect(try await api.register("\(phone):one", by: ben).status == 202)
    }

    @Test(.api) func `a redeemed sign-in on another user's phone is valid, and gets its pushes with the nonce`() async throws {
        let first = try await api.signedInDevice(email: "first@example.org")
        let second = try await api.signedInDevice(email: "second@example.org")
        #expect(try await api.isAccepted(second.accessToken))
        #expect(try await api.boundUsers() == [first.userID])
        let check = try await api.check()
        let ben = Customer(userID: second.userID, token: second.accessToken)
        #expect(try await api.confirm(check.id, check.nonce, by: ben).status == 200)
        #expect(try await api.boundUsers() == [second.userID])
        #expect(try await api.logout(first.accessToken).status == 200)
        #expect(try await api.boundUsers() == [second.userID], "a late logout must not unbind the next user")
        #expect(try await api.logout(second.accessToken).status == 200)
        #expect(try await api.boundUsers().isEmpty)
    }

    @Test(.api) func `an order's token that no app has registered is the user's with the nonce only`() async throws {
        let ben = try await api.customer("ben")
        let order = Order().with(#""device_token":"\#(phone):one""#)
        _ = try await api.job(order, by: ben)
        #expect(try await api.bound().isEmpty)
        let check = try await api.check()
        #expect(try await api.confirm(check.id, check.nonce, by: ben).status == 200)
        #expect(try await api.bound().map(\.userID) == [ben.userID])
        _ = try await api.job(order, by: ben)
        #expect(try await api.checks().count == 1, "it is the user's own now")
        #expect(try await api.logout(ben.token).status == 200)
        #expect(try await api.bound().isEmpty)
    }

    @Test(.api) func `the nonce is in no table in plain text`() async throws {
        _ = try await api.owner()
        _ = try await api.register("\(phone):one", by: try await api.customer("ben"))
        let (check, dump) = (try await api.check(), try await api.dumpTables())
        let nonce = try #require(Base64URL.decode(check.nonce))
        for secret in [check.nonce, Hex.encode(nonce), Hex.encode(Array(check.nonce.utf8))] { #expect(!dump.contains(secret)) }
    }

    private static let badConfirmations: [(body: String, refusal: String)] = [
        ("{}", "400 missing_field handover_id"), (#"{"handover_id":"x","nonce":"y"}"#, "400 invalid_request handover_id"),
        (#"{"handover_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6"}"#, "400 missing_field nonce"),
        (#"{"handover_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","nonce":"\#(String(repeating: "a", count: 9_000))"}"#, "404 not_found"),
    ]

    @Test(.api) func `an invalid confirmation is refused`() async throws {
        let ben = try await api.customer("ben")
        for (body, refusal) in Self.badConfirmations {
            #expect(try await api.json("POST", Device.path + "/confirm", body, by: ben).refusal == refusal, "\(body.prefix(60))")
        }
        #expect(try await api.json("POST", Device.path + "/confirm", Self.badConfirmations[3].body).refusal == "401 unauthorized")
    }
}

extension IdentityFixture {
    /// A possession check as a phone gets it.
    struct Check: Sendable {
        let id: UUID
        let nonce: String
        /// The installation to which it is pushed.
        let installID: UUID
        let push: NotificationRequested
    }

    /// Makes a customer who has registered the phone.
    fileprivate func owner() async throws -> Customer {
        let ada = try await customer("ada")
        #expect(try await register("\(phone):one", by: ada).status == 200)
        return ada
    }

    /// Returns the installations with a user.
    fileprivate func bound() async throws -> [PushInstall] { try await installs().filter { $0.userID != nil } }

    /// Returns all possession checks, opened as the notifier does.
    fileprivate func checks() async throws -> [Check] {
        try await pushes().compactMap { push in
            guard case .possessionCheck(let check) = push.content else { return nil }
            return Check(
                id: check.handOverID, nonce: try check.nonce.opened(of: push.notificationID, with: context.sealer(.tokens)),
                installID: try #require(UUID(uuidString: push.recipient.id)), push: push)
        }
    }

    /// Returns the newest possession check.
    func check() async throws -> Check { try #require(try await checks().last) }

    func confirm(_ id: UUID, _ nonce: String, by customer: Customer) async throws -> HTTPClientResponse {
        try await json(
            "POST", Device.path + "/confirm", #"{"handover_id":"\#(id.wireString)","nonce":"\#(nonce)"}"#, by: customer)
    }

    /// Opens the value of an installation, as the notifier does.
    func value(of installID: UUID) async throws -> String {
        let install = try #require(try await PushInstallRepository(postgres).find(ids: [installID]).first)
        let context = PushInstall.sealingContext(installationKey: install.installationKey)
        return String(decoding: try self.context.sealer(.tokens).open(install.valueSealed, context: context), as: UTF8.self)
    }
}
