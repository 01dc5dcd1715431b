import Accounts
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

@Suite struct AbuseReportTests {
    private static let json = #"{"reason":"spam","text":"again and again"}"#

    @Test(.api) func `a report of anything gets one answer, and its text is stored sealed`() async throws {
        let chat = try await Chat.make(api)
        try await chat.say("Buy!", "m-1", by: chat.ada)
        let paths = [
            "/v1/users/\(chat.ada.userID.wireString)/report", "/v1/users/\(UUID().wireString)/report", "\(Chat.path)/report",
            "/v1/topics/event:none/report", "\(Chat.path)/messages/m-1/report", "\(Chat.path)/messages/none/report",
        ]
        var bodies = Set<String>()
        for path in paths {
            let answer = try await api.json("POST", path, Self.json, by: chat.ben)
            #expect(answer.status == 202, "\(path)")
            bodies.insert(answer.json.value("data")?.text ?? "")
        }
        #expect(bodies == [#"{"status":"received"}"#])
        let reports = try await AbuseReportRepository(api.postgres).list(.open, limit: 100)
        #expect(reports.map(\.subjectType) == ["user", "user", "topic", "topic", "message", "message"])
        #expect(reports.map(\.senderID) == [nil, nil, nil, nil, chat.ada.userID, nil])
        let sealed = try #require(reports[0].textSealed)
        let text = try api.context.sealer(.accounts).open(sealed, context: SealingContext.report(id: reports[0].id))
        #expect(String(decoding: text, as: UTF8.self) == "again and again")
    }

    @Test(.api) func `the sender of a message is recorded for members only`() async throws {
        let chat = try await Chat.make(api)
        try await chat.say("Buy!", "m-1", by: chat.ada)
        #expect(try await api.json("POST", "\(Chat.path)/messages/m-1/report", Self.json, by: chat.eve).status == 202)
        #expect(try await AbuseReportRepository(api.postgres).list(.open, limit: 1).first?.senderID == nil)
    }

    @Test(.api) func `a repeated report is stored once, and the reports of an account in a day are limited`() async throws {
        let ada = try await api.customer()
        let path = "/v1/users/\(UUID().wireString)/report"
        _ = try await race(4) { _ in try await api.json("POST", path, Self.json, by: ada) }
        #expect(try await api.count("reports") == 1)
        try await api.postgres.execute(
            """
            INSERT INTO reports (id, reporter_id, subject_type, subject_id, reason)
            SELECT gen_random_uuid(), \(ada.userID), 'user', n::text, 'spam' FROM generate_series(2, \(AbuseReportRepository.maxPerDay)) n
            """)
        let refused = try await api.json("POST", "/v1/users/\(UUID().wireString)/report", Self.json, by: ada)
        #expect(refused.refusal == "429 rate_limited")
        #expect((86_000...86_400).contains(refused.header("Retry-After").flatMap { Int($0) } ?? 0))
    }

    @Test(.api) func `an invalid report is refused with the field's name`() async throws {
        let ada = try await api.customer()
        let path = "/v1/topics/event:1/report"
        let long = String(repeating: "x", count: 1_001)
        let bad = [
            ("{}", "400 missing_field reason"), (#"{"reason":"dislike"}"#, "400 invalid_request reason"),
            (#"{"reason":"spam","text":"\#(long)"}"#, "400 invalid_request text"),
            (#"{"reason":"spam","text":"a\u001b]0;b"}"#, "400 invalid_request text"),
            (#"{"reason":"spam","text":"a\u009bb"}"#, "400 invalid_request text"),
        ]
        for (json, refusal) in bad { #expect(try await api.json("POST", path, json, by: ada).refusal == refusal) }
        #expect(try await api.json("POST", path, #"{"reason":"spam","text":"one\r\n\ttwo 👨‍👩‍👧"}"#, by: ada).status == 202)
        let report = try #require(try await AbuseReportRepository(api.postgres).list(.open, limit: 1).first)
        let sealed = try #require(report.textSealed)
        #expect(try api.keys.opened(sealed, context: SealingContext.report(id: report.id)) == "one\n two 👨‍👩‍👧")
        #expect(try await api.json("POST", "/v1/users/me/report", Self.json, by: ada).refusal == "400 invalid_request user_id")
        #expect(try await api.json("POST", path, Self.json).refusal == "401 unauthorized")
    }
}
