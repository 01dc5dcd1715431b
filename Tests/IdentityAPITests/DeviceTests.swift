import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The Firebase installation ids of two devices.
private let phone = "cAbCdEfGhIjKlMnOpQrSt1"
private let tablet = "dAbCdEfGhIjKlMnOpQrSt2"

@Suite struct DeviceTests {
    @Test(.api) func `an installation is registered, and its sign-in is bound to it`() async throws {
        let ada = try await api.customer()
        let body = #"{"device_token":"\#(phone):APA91","platform":"iOS","app_version":"1.2 (3)","locale":"de_CH"}"#
        let answer = try await api.json("POST", Device.path, body, by: ada)
        #expect(answer.status == 200)
        #expect(answer.json.text("data.kind") == "token")
        #expect(answer.json.text("data.platform") == "ios")
        let install = try #require(try await api.installs().first)
        #expect(answer.json.text("data.installation_id") == install.id.wireString)
        #expect(install.userID == ada.userID)
        #expect(install.locale == "de-CH")
        #expect(install.appVersion == "1.2 (3)")
        #expect(try await api.logout(ada.token).status == 200)
        #expect(try await api.installs().isEmpty)
    }

    @Test(.api) func `a new token of a device replaces the old one`() async throws {
        let ada = try await api.customer()
        for value in ["\(phone):one", "\(phone):one", "\(phone):two"] {
            #expect(try await api.register(value, by: ada).status == 200)
        }
        #expect(try await api.json("POST", Device.path, #"{"fid":"\#(phone)","platform":"ios"}"#, by: ada).status == 200)
        let install = try #require(try await api.installs().first)
        #expect(try await api.installs().count == 1)
        #expect(install.generation == 3)
        #expect(install.kind == .fid)
        #expect(install.userID == ada.userID)
    }

    @Test(.api) func `an installation stays with its user when another registers it, whose requests do not remove it`() async throws {
        let (ada, ben) = (try await api.customer("one"), try await api.customer("another"))
        _ = try await api.register("\(phone):one", by: ada)
        let before = try await api.installs()
        #expect(try await api.register("\(phone):one", by: ben).status == 202)
        #expect(try await api.unregister("?device_token=\(phone)%3Aone", by: ben).status == 204)
        #expect(try await api.unregister("", by: ben).status == 204)
        #expect(try await api.logout(ben.token).status == 200)
        #expect(try await api.installs().filter { $0.userID != nil } == before)
    }

    @Test(.api) func `a user has one sign-in per device, and a late logout of an earlier one unbinds nothing`() async throws {
        let (first, second) = (try await api.customer("ada"), try await api.customer("ada"))
        _ = try await api.register("\(phone):one", by: first)
        _ = try await api.register("\(phone):one", by: second)
        #expect(try await !api.isAccepted(first.token))
        #expect(try await api.isAccepted(second.token))
        #expect(try await api.logout(first.token).refusal == "401 unauthorized")
        #expect(try await api.installs().count == 1)
    }

    @Test(.api) func `a sign-in that moves to another installation removes the former one`() async throws {
        let ada = try await api.customer()
        _ = try await api.register("\(phone):one", by: ada)
        let former = try #require(try await api.installs().first)
        _ = try await api.register("\(tablet):one", by: ada)
        let installs = try await api.installs()
        #expect(installs.count == 1 && installs[0].id != former.id)
    }

    @Test(.api) func `a refreshed sign-in stays bound, and an ended one cannot register`() async throws {
        let device = try await api.signedInDevice()
        let customer = Customer(userID: device.userID, token: device.accessToken)
        #expect(try await api.register("\(phone):one", by: customer).status == 200)
        let renewed = try await api.refresh(device.refreshToken)
        let token = try #require(renewed.json.text("access_token"))
        #expect(try await api.register("\(phone):two", by: customer).refusal == "401 unauthorized")
        #expect(try await api.logout(token).status == 200)
        #expect(try await api.installs().isEmpty)
        #expect(try await api.register("\(phone):two", by: Customer(userID: device.userID, token: token)).status == 401)
    }

    private static let ownNames: [String] = [
        "?device_token=\(phone):one", "?device_token=\(phone)%3Aone", "?fid=\(phone)", "", #"{"device_token":"\#(phone):one"}"#,
        #"{"fid":"\#(phone)"}"#, "{}", "nonsense", String(repeating: "a", count: 200_000),
    ]

    @Test(.api) func `an installation is removed by its token, its id, or its sign-in`() async throws {
        let ada = try await api.customer()
        for named in Self.ownNames {
            _ = try await api.register("\(phone):one", by: ada)
            for _ in 0..<2 { #expect(try await api.unregister(named, by: ada).status == 204) }
            #expect(try await api.installs().isEmpty, "\(named.prefix(40))")
            try await api.clear("push_installs", "outbox")
        }
    }

    private static let outdatedNames: [String] = [
        "?device_token=\(phone):old", "?fid=\(tablet)", "?fid=nonsense", #"{"device_token":"\#(phone):old"}"#, #"{"fid":7}"#,
        #"{"device_token":null}"#,
    ]

    @Test(.api) func `an outdated or invalid token removes nothing and gets the same response`() async throws {
        let ada = try await api.customer()
        for named in Self.outdatedNames {
            _ = try await api.register("\(phone):old", by: ada)
            _ = try await api.register("\(phone):new", by: ada)
            #expect(try await api.unregister(named, by: ada).status == 204, "\(named)")
            #expect(try await api.installs().count == 1, "\(named)")
            try await api.clear("push_installs")
        }
    }

    private static let badRegistrations: [(body: String, refusal: String)] = [
        ("{}", "400 missing_field device_token"), (#"{"device_token":"","platform":"ios"}"#, "400 missing_field device_token"),
        (#"{"device_token":"\#(phone):a"}"#, "400 missing_field platform"),
        (#"{"device_token":"\#(phone):a","platform":"symbian"}"#, "400 invalid_request platform"),
        (#"{"device_token":"a b","platform":"ios"}"#, "400 invalid_request device_token"),
        (#"{"device_token":["x"],"platform":"ios"}"#, "400 invalid_request device_token"),
        (#"{"device_token":"\#(String(repeating: "a", count: 4_097))","platform":"ios"}"#, "400 invalid_request device_token"),
        (#"{"fid":"\#(phone):a","platform":"ios"}"#, "400 invalid_request fid"),
        (#"{"fid":"zzz","platform":"ios"}"#, "400 invalid_request fid"),
        (#"{"fid":"\#(phone)","device_token":"\#(tablet):a","platform":"ios"}"#, "400 invalid_request fid"),
        (#"{"device_token":"\#(phone):a","platform":"ios","locale":"ü"}"#, "400 invalid_request locale"),
        (#"{"device_token":"\#(phone):a","platform":"ios","app_version":"a\u0000"}"#, "400 invalid_request app_version"),
        (#"{"device_token":"\#(String(repeating: "a", count: 20_000))"}"#, "413 payload_too_large"), ("[", "400 invalid_request"),
    ]

    @Test(.api) func `an invalid registration is refused with the field's name, without its value`() async throws {
        let ada = try await api.customer()
        for (body, refusal) in Self.badRegistrations {
            let answer = try await api.json("POST", Device.path, body, by: ada)
            #expect(answer.refusal == refusal, "\(body.prefix(80))")
            #expect(!answer.text.contains(phone), "\(body.prefix(80))")
            #expect(try await api.installs().isEmpty, "\(body.prefix(80))")
        }
    }

    @Test(.api { $0.limits.devices = Rate(perMinute: 1, burst: 1) })
    func `registration needs a bearer, and an account's registrations are limited`() async throws {
        let refused = try await api.json("POST", Device.path, #"{"device_token":"\#(phone):a","platform":"ios"}"#)
        #expect(refused.refusal == "401 unauthorized")
        #expect(try await api.send("DELETE", Device.path).refusal == "401 unauthorized")
        let ada = try await api.customer("ada")
        #expect(try await api.register("\(phone):one", by: ada).status == 200)
        #expect(try await api.register("\(phone):two", by: ada).refusal == "429 rate_limited")
    }

    @Test(.api) func `concurrent registrations of one device make one installation`() async throws {
        let (ada, ben) = (try await api.customer("one"), try await api.customer("another"))
        let statuses = try await race(12) { index in
            try await api.register("\(phone):t\(index % 3)", by: index % 2 == 0 ? ada : ben).status
        }
        #expect(statuses.allSatisfy { $0 == 200 || $0 == 202 })
        #expect(try await api.installs().count { $0.userID != nil } == 1)
    }

    @Test(.api) func `no table and no event contains a token in plain text`() async throws {
        let ada = try await api.customer()
        let value = "\(phone):Canary-token-93ac"
        _ = try await api.register(value, by: ada)
        let tables = try await api.dumpTables()
        for text in ["Canary-token-93ac", phone] {
            #expect(!tables.contains(text) && !tables.contains(Array(text.utf8).map { String(format: "%02x", $0) }.joined()))
        }
    }
}

enum Device {
    static let path = "/v1/users/device-token"
}

extension IdentityFixture {
    func register(_ token: String, by customer: Customer) async throws -> HTTPClientResponse {
        try await json("POST", Device.path, #"{"device_token":"\#(token)","platform":"ios"}"#, by: customer)
    }

    /// Removes the installation that a query or a body names.
    func unregister(_ named: String, by customer: Customer) async throws -> HTTPClientResponse {
        named.hasPrefix("?")
            ? try await send("DELETE", Device.path + named, headers: [customer.bearer])
            : try await json("DELETE", Device.path, named, by: customer)
    }

    func installs() async throws -> [PushInstall] {
        let ids = try await postgres.query("SELECT id FROM push_installs ORDER BY id").map { try $0.decode("id", as: UUID.self) }
        return try await PushInstallRepository(postgres).find(ids: ids)
    }
}
