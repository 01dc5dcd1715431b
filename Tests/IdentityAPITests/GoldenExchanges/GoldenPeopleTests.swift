import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Testing
import WireFormat

@testable import IdentityAPI

/// The exchanges about other people: blocks, contacts and reports; and those of erasures.
@Suite struct GoldenPeopleTests {
    @Test(.api) func `people are blocked`() async throws {
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        let golden = GoldenExchanges(api, ["<token>": ada.token, "<uuid:user>": ben.userID.wireString])
        try await golden.run("block-put")
        try await golden.run("blocks-list")
        try await golden.run("block-delete")
        try await golden.run("blocks-replace")
        try await golden.run("block-oneself", ["<uuid:user>": ada.userID.wireString])
        try await api.postgres.execute(
            """
            INSERT INTO user_blocks (user_id, blocked_id)
            SELECT \(ada.userID), gen_random_uuid() FROM generate_series(1, \(PeopleList.maxCount - 1))
            """)
        try await golden.run("block-limit-reached", ["<uuid:user>": UUID().wireString])
    }

    @Test(.api) func `people are allowed to add one`() async throws {
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        let golden = GoldenExchanges(api, ["<token>": ada.token, "<uuid:user>": ben.userID.wireString])
        try await golden.run("contact-put")
        try await golden.run("contacts-list")
        try await golden.run("contact-delete")
        try await golden.run("contacts-replace")
    }

    @Test(.api) func `anything is reported`() async throws {
        let chat = try await Chat.make(api)
        try await chat.say("Buy!", "m-1", by: chat.ada)
        let golden = GoldenExchanges(api, ["<token>": chat.ben.token, "<uuid:user>": chat.ada.userID.wireString])
        try await golden.run("report-user")
        try await golden.run("report-topic")
        try await golden.run("report-message")
        for _ in 3..<AbuseReportRepository.maxPerDay {
            let path = "/v1/users/\(UUID().wireString)/report"
            #expect(try await api.json("POST", path, #"{"reason":"spam"}"#, by: chat.ben).status == 202)
        }
        try await golden.run("report-rate-limited", ["<uuid:user>": UUID().wireString])
    }

    /// The values of an erasure that was asked for.
    private static func values(of begun: HTTPClientResponse) throws -> [String: String] {
        [
            "<uuid:erasure>": try #require(begun.json.text("data.erasure_id")),
            "<token:receipt>": try #require(begun.json.text("data.receipt_token")),
        ]
    }

    @Test(.api) func `an account is erased, and its receipt is read`() async throws {
        let device = try await api.signedInDevice()
        let golden = GoldenExchanges(api, ["<token>": device.accessToken])
        let values = try Self.values(of: try await golden.run("account-erase"))
        try await golden.run("erasure-open", values)
        let id = try #require(UUID(wireString: values["<uuid:erasure>"] ?? ""))
        #expect(try await api.completeErasure(id).completedAt != nil)
        try await golden.run("erasure-completed", values)
        try await golden.run("erasure-unknown", ["<uuid:erasure>": UUID().wireString, "<token:receipt>": OpaqueToken.generate().text])
    }

    @Test(.api) func `a face is erased, once at a time`() async throws {
        let device = try await api.signedInDevice()
        let golden = GoldenExchanges(api, ["<token>": device.accessToken])
        try await golden.run("account-erase-face")
        try await golden.run("account-erase-face-in-progress")
        try await api.age(device, by: 301)
        try await golden.run("account-erase-reauthentication-required")
    }
}
