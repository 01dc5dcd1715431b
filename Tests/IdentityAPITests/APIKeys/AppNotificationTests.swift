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

@Suite struct AppNotificationTests {
    private static let path = "/v1/notifications"

    @Test(.api) func `a notification for many users is one event with sealed content`() async throws {
        let service = try await api.service(.notify)
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        let answer = try await api.send(
            "POST", Self.path, by: service,
            json: """
                {"kind":"order.shipped","user_ids":["\(ada.userID)","\(ben.userID)","\(ben.userID)","\(UUID())"],"title":"On its way",
                 "body":"Parcel 7","data":{"order":"7"},"sound":"default","collapse_key":"order-7","image":"https://cdn.example.org/7.jpg"}
                """)
        #expect(answer.status == 202 && answer.json.text("data.state") == "requested")
        #expect(answer.json.number("data.accepted") == 2 && answer.json.number("data.unknown") == 1)
        let push = try #require(try await api.pushes().first)
        let id = try #require(answer.json.text("data.notification_id"))
        #expect(try await api.pushes().count == 1)
        #expect(push.kind == .custom && push.recipient == .list(push.notificationID) && push.lane == .normal)
        #expect(push.notificationID.wireString == id && push.content.push.hasPicture && push.references == PushReferences())
        #expect(!String(decoding: push.content.encoded(), as: UTF8.self).contains("order"), "nothing of it is in plain text")
        let content = try content(of: push)
        #expect(content.title == "On its way" && content.body == "Parcel 7" && content.kind == "order.shipped")
        #expect(content.data == ["order": "7"] && content.collapseKey == "photoshare:order-7")
        let stored: [UUID] = try await api.postgres.query("SELECT user_ids FROM app_notifications")[0].decode("user_ids")
        #expect(Set(stored) == [ada.userID, ben.userID])
    }

    @Test(.api) func `a repetition gets the first answer and no second push`() async throws {
        let (service, ada) = (try await api.service(.notify), try await api.customer())
        let json = #"{"kind":"news","user_ids":["\#(ada.userID)"],"title":"A","dedupe_key":"k-1"}"#
        let answers = try await race(8) { _ in try await api.send("POST", Self.path, by: service, json: json) }
        #expect(answers.allSatisfy { $0.status == 202 })
        #expect(Set(answers.map { $0.json.value("data")?.text ?? "" }).count == 1)
        #expect(answers.count { $0.header("Idempotent-Replayed") == "true" } == 7)
        #expect(try await api.pushes().count == 1)
        let respelled = #"{"dedupe_key":"k-1","title":"\u0041","user_ids":["\#(ada.userID)"],"kind":"news"}"#
        #expect(try await api.send("POST", Self.path, by: service, json: respelled).status == 202)
        let other = json.replacing("\"A\"", with: "\"B\"")
        #expect(try await api.send("POST", Self.path, by: service, json: other).refusal == "422 idempotency_key_reused dedupe_key")
        let rotated = try await api.service(.notify)
        #expect(try await api.send("POST", Self.path, by: rotated, json: json).header("Idempotent-Replayed") == "true")
        let stranger = try await api.service(.notify, app: "other")
        #expect(try await api.send("POST", Self.path, by: stranger, json: json).header("Idempotent-Replayed") == nil)
        #expect(try await api.pushes().count == 2)
    }

    @Test(.api) func `a notification is published when it is due, once, also by several instances`() async throws {
        let (service, ada) = (try await api.service(.notify), try await api.customer())
        let later = Date(timeIntervalSinceNow: 3_600).formatted(.iso8601)
        let json = #"{"kind":"news","user_ids":["\#(ada.userID)"],"title":"A","not_before":"\#(later)"}"#
        let answer = try await api.send("POST", Self.path, by: service, json: json)
        #expect(answer.status == 202 && answer.json.text("data.state") == "scheduled")
        let due = DueNotifications(postgres: api.context.postgres, logger: api.context.logger)
        #expect(try await due.publishDue() == 0)
        #expect(try await api.pushes().isEmpty)
        try await api.postgres.execute(
            "UPDATE app_notifications SET created_at = created_at - interval '2 hours', not_before = now() - interval '1 second'")
        _ = try await race(4) { _ in try await due.publishDue() }
        try await eventually("the notification is published") { try await !api.pushes().isEmpty }
        _ = try await due.publishDue()
        let push = try #require(try await api.pushes().first)
        #expect(try await api.pushes().count == 1)
        #expect(push.notificationID.wireString == answer.json.text("data.notification_id"))
        #expect(try content(of: push).title == "A")
        let kept = try await api.postgres.query("SELECT count(*) AS n FROM app_notifications WHERE request IS NOT NULL")
        #expect(try kept[0].decode("n", as: Int.self) == 0)
    }

    @Test(.api) func `a scheduled notification can be cancelled, one that was due cannot`() async throws {
        let (service, ada) = (try await api.service(.notify), try await api.customer())
        let stranger = try await api.service(.notify, app: "other")
        let later = Date(timeIntervalSinceNow: 3_600).formatted(.iso8601)
        func post(_ more: String) async throws -> String {
            let json = #"{"kind":"news","user_ids":["\#(ada.userID)"],"title":"A"\#(more)}"#
            let answer = try await api.send("POST", Self.path, by: service, json: json)
            return Self.path + "/" + (answer.json.text("data.notification_id") ?? "")
        }
        let (waiting, sent) = (try await post(#","not_before":"\#(later)""#), try await post(""))
        #expect(try await api.send("DELETE", waiting, by: stranger).refusal == "404 notification_not_found")
        for _ in 0..<2 { #expect(try await api.send("DELETE", waiting, by: service).status == 204) }
        #expect(try await api.send("GET", waiting, by: service).json.text("data.state") == "cancelled")
        #expect(try await api.send("DELETE", sent, by: service).refusal == "409 already_sent")
    }

    @Test(.api) func `a notification for a topic of the app goes to its members, and to no other topic`() async throws {
        let (service, ada) = (try await api.service(.notify, .writeTopics), try await api.customer())
        _ = try await api.event()
        _ = try await api.send("PUT", "/v1/topics/event:42", by: service)
        _ = try await api.send("PUT", "/v1/topics/event:42/members/\(ada.userID.wireString)", by: service)
        let json = #"{"kind":"news","topic":"event:42","data":{"a":"b"}}"#
        let answer = try await api.send("POST", Self.path, by: service, json: json)
        #expect(answer.status == 202 && answer.json.number("data.accepted") == 1)
        let push = try #require(try await api.pushes().last)
        #expect(push.recipient == .topic("event:42") && push.lane == .bulk && push.references.topicID != nil)
        #expect(try content(of: push).isShown == false)
        let foreign = try await api.send("POST", Self.path, by: service, json: json.replacing("event:42", with: "event:1"))
        #expect(foreign.refusal == "404 topic_not_found")
    }

    @Test(.api) func `the urgent lane needs a scope of its own`() async throws {
        let (service, urgent) = (try await api.service(.notify), try await api.service(.notify, .notifyUrgently))
        let ada = try await api.customer()
        let json = #"{"kind":"code","user_ids":["\#(ada.userID)"],"title":"A","lane":"urgent"}"#
        #expect(try await api.send("POST", Self.path, by: service, json: json).refusal == "403 forbidden lane")
        #expect(try await api.send("POST", Self.path, by: urgent, json: json).status == 202)
        #expect(try await api.pushes().last?.lane == .urgent)
    }

    @Test(.api) func `a notification without known recipients is accepted, requests no push, and has ended`() async throws {
        let service = try await api.service(.notify)
        let answer = try await api.send("POST", Self.path, by: service, json: #"{"kind":"news","user_ids":["\#(UUID())"],"title":"A"}"#)
        #expect(answer.status == 202 && answer.json.number("data.accepted") == 0 && answer.json.number("data.unknown") == 1)
        #expect(try await api.pushes().isEmpty)
        let ended = try await api.send("GET", "\(Self.path)/\(answer.json.text("data.notification_id") ?? "")", by: service)
        #expect(ended.json.text("data.state") == "skipped" && ended.json.text("data.skip_reason") == "no_recipient")
    }

    private static let badRequests: [(fields: String, refusal: String)] = [
        (#""kind":"News""#, "kind"), (#""kind":"chat_message""#, "kind"), (#""kind":"custom""#, "kind"),
        (#""kind":"a","data":{"from":"x"}"#, "data"), (#""kind":"a","data":{"gcm.x":"x"}"#, "data"),
        (#""kind":"a","data":{"googleX":"x"}"#, "data"), (#""kind":"a","data":{"kind":"x"}"#, "data"),
        (#""kind":"a","data":{"message_type":"x"}"#, "data"),
        (#""kind":"a","data":{"notification_id":"x"}"#, "data"), (#""kind":"a","data":{"n":1}"#, "data"),
        (#""kind":"a","data":{"n":"\#(String(repeating: "x", count: 2_048))"}"#, "data"),
        (#""kind":"a","title":"\#(String(repeating: "x", count: 101))""#, "title"), (#""kind":"a","title":"a\nb""#, "title"),
        (#""kind":"a","title":"t","body":"\#(String(repeating: "x", count: 401))""#, "body"),
        (#""kind":"a","title":"t","image":"http://example.org/a.jpg""#, "image"),
        (#""kind":"a","title":"t","image":"https://u@example.org/a.jpg""#, "image"),
        (#""kind":"a","title":"t","lane":"slow""#, "lane"),
        (#""kind":"a","title":"t","not_before":"2999-01-01T00:00:00Z""#, "not_before"),
        (#""kind":"a","title":"t","expires_at":"2001-01-01T00:00:00Z""#, "expires_at"),
        (#""kind":"a","title":"t","topic":"event:1""#, "user_ids"), (#""kind":"a","title":"t","user_ids":[]"#, "user_ids"),
    ]

    @Test(.api) func `an invalid notification is refused with the field's name`() async throws {
        let service = try await api.service(.notify)
        for (fields, field) in Self.badRequests {
            let users = fields.contains("user_ids\"") ? "" : #","user_ids":["\#(UUID())"]"#
            let answer = try await api.send("POST", Self.path, by: service, json: "{\(fields)\(users)}")
            #expect(answer.refusal == "400 invalid_request \(field)", "\(fields.prefix(60))")
        }
        let many = (0...AppNotification.maxRecipients).map { _ in "\"\(UUID())\"" }.joined(separator: ",")
        let crowd = try await api.send("POST", Self.path, by: service, json: #"{"kind":"a","title":"t","user_ids":[\#(many)]}"#)
        #expect(crowd.refusal == "400 invalid_request user_ids")
        #expect(try await api.count("app_notifications") == 0)
    }

    /// Opens the sealed content of a push, as the notifier does.
    private func content(of push: NotificationRequested) throws -> AppContent {
        guard case .custom(let custom) = push.content else { throw DeadlineExceeded(description: "a push of no app") }
        let json = try custom.app.opened(of: push.notificationID, with: api.context.sealer(.tokens))
        return try JSONDecoder().decode(AppContent.self, from: Data(json.utf8))
    }
}
