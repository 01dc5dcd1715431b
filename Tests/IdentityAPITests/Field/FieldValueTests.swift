import Accounts
import Foundation
import HTTPClient
import JSON
import ServiceDefaults
import Testing

@testable import IdentityAPI

/// Values as clients of the field write them: optional ones that are not given, and texts and times that look like some.
@Suite struct FieldValueTests {
    @Test func `every optional field of a JSON body may be null`() {
        for operation in APIOperation.all {
            guard let schema = operation.json.value("requestBody.content.application/json.schema").map(OpenAPIDocument.json.resolved) else {
                continue
            }
            let required = Set(schema["required"]?.elements?.compactMap(\.string) ?? [])
            for property in schema["properties"]?.members ?? []
            where !required.contains(property.name) && property.value["contentMediaType"] == nil {
                #expect(SchemaCheck.faults(of: .null, property.value).isEmpty, "\(operation.id): \(property.name)")
            }
        }
    }

    @Test(.api, arguments: [#"null"#, #""""#]) func `optional fields of a registration may be null or empty`(value: String) async throws {
        let ada = try await api.customer()
        let body = #"{"device_token":"\#(Form.pushToken)","fid":\#(value),"platform":"ios","app_version":\#(value),"locale":\#(value)}"#
        #expect(try await api.json("POST", Device.path, body, by: ada).status == 200)
    }

    @Test(.api, arguments: [#"null"#, #""""#]) func `optional fields of a notification may be null or empty`(value: String) async throws {
        let (service, ada) = (try await api.service(.notify), try await api.customer())
        let names = ["body", "data", "image", "sound", "thread", "collapse_key", "topic", "lane", "dedupe_key", "not_before", "expires_at"]
        let optional = names.map { "\"\($0)\":\(value)" }.joined(separator: ",")
        let json = #"{"kind":"news","user_ids":["\#(ada.userID)"],"title":"A",\#(optional)}"#
        #expect(try await api.send("POST", "/v1/notifications", by: service, json: json).status == 202)
    }

    @Test(.api) func `an unknown field of a notification is refused with its name`() async throws {
        let (service, ada) = (try await api.service(.notify), try await api.customer())
        let json = #"{"kind":"news","user_ids":["\#(ada.userID)"],"title":"A","collapseKey":"x"}"#
        #expect(try await api.send("POST", "/v1/notifications", by: service, json: json).refusal == "400 invalid_request collapseKey")
    }

    private static let impossible = [
        "2025-02-30T10:00:00Z", "2025-02-29T10:00:00Z", "2025-04-31T10:00:00+02:00", "2025-01-01T24:00:00Z", "2025-01-01T10:60:00Z",
        "2025-01-01T23:59:60Z", "2025-13-01T10:00:00Z", "2025-00-10T10:00:00Z", "tomorrow", "2025-01-01", "2025-01-01T10:00:00",
        "2025-01-01T10:00:00Zgarbage", "2025-01-01T10:00:00Z; DROP", "2025-01-01T10:00:00Z 2027", "2025-01-01T10:00:00ZZ",
        "2025-01-01T10:00:00+02:00x", "2025-01-01T10:00:00+02:75", "2025-01-01T10:00:00+1:5", "2025-01-01T10:00:00+12345",
        "2025-01-01T10:00:00GMT+1", "2025-01-01T10:00:00Z[UTC]", "2025-01-01T10:00:00+24:00", "2025-01-01T10:00:00.Z", "2025-1-1T10:00:00Z",
    ]

    @Test(arguments: impossible) func `a time that no clock shows is refused`(text: String) throws {
        let body = try #require(JSONBody(.members(("at", .string(text)))))
        #expect(throws: APIError.self) { try body.instant("at") }
    }

    @Test(arguments: [
        ("2024-02-29T10:00:00Z", 1_709_200_800), ("2025-01-01t10:00:00z", 1_735_725_600), ("2025-01-01 10:00:00Z", 1_735_725_600),
        ("2025-01-01T10:00Z", 1_735_725_600), (" 2025-01-01T10:00:00Z\n", 1_735_725_600), ("2025-01-01T12:00:00+0200", 1_735_725_600),
        ("2025-01-01T12:00+02", 1_735_725_600), ("2025-01-01T10:00:00.5Z", 1_735_725_600.5),
        ("2025-01-01T10:00:00.500000000000000001Z", 1_735_725_600.5), ("2025-06-01T00:00:00+09:00", 1_748_703_600),
        ("2025-06-01T00:00:00-03:30", 1_748_748_600), ("1969-12-31T23:59:59-00:00", -1), ("2000-03-01T00:00:00Z", 951_868_800),
    ])
    func `a time is taken in every spelling of RFC 3339 and of common libraries`(text: String, seconds: Double) throws {
        let body = try #require(JSONBody(.members(("at", .string(text)))))
        #expect(try body.instant("at") == Date(timeIntervalSince1970: seconds))
    }

    private static let invisible = [
        " ", "\u{200B}", "\u{FEFF}\u{200D}", "\u{3164}", "\u{2800}\u{2800}", "\u{00AD}", "\u{2060}\u{180E}", "\u{E0020}",
    ]

    @Test(arguments: invisible) func `an invisible text counts as absent`(text: String) throws {
        #expect(text.showsNothing)
        #expect(try JSONBody(.members(("a", .string(text))))?.text("a") == nil)
        #expect(try JSONBody(.members(("a", .string("\(text)b \(text)"))))?.word("a") == "b")
    }

    @Test(arguments: ["Ada", "👩‍👩‍👧", "0", "ー", "·", "\u{200E}x"]) func `a visible text counts as given`(text: String) {
        #expect(!text.showsNothing)
    }

    @Test(.api, arguments: ["   ", "\\u200b", "\\u200eAda\\u200e"])
    func `an invisible name is an empty one, and invisible characters around a name do not count`(name: String) async throws {
        let ada = try await api.customer()
        let answer = try await api.json("PUT", "/v1/users/me", #"{"display_name":"\#(name)"}"#, by: ada)
        #expect(answer.status == 200 && answer.json.text("data.display_name") == (name.contains("Ada") ? "Ada" : nil))
    }

    @Test(.api) func `an invisible push is refused`() async throws {
        let (service, ada) = (try await api.service(.notify), try await api.customer())
        let json = #"{"kind":"news","user_ids":["\#(ada.userID)"],"title":"\u200b","body":"\u2060","sound":"default"}"#
        #expect(try await api.send("POST", "/v1/notifications", by: service, json: json).refusal == "400 missing_field title")
    }

    @Test(.api) func `an empty parameter of a query counts as absent`() async throws {
        let ada = try await api.customer()
        let jobs = try await api.send("GET", "/v1/images/jobs?limit=&cursor=", headers: [("Authorization", "Bearer \(ada.token)")])
        #expect(jobs.status == 200)
    }

    @Test func `an account has one address however its domain is spelt`() {
        #expect(EmailAddress("a@exämple.de") == EmailAddress("a@xn--exmple-cua.de"))
        #expect(EmailAddress("a@日本。jp") == EmailAddress("a@xn--wgv71a.jp"))
    }

    @Test(arguments: [true, false, nil]) func `an address that the mail server cannot send to is refused before a code is promised`(
        takes: Bool?
    ) {
        let mail = Mailbox(takesInternationalAddresses: takes)
        let isTaken = (try? EmailAddress(ofClient: "ö@example.org", for: mail)) != nil
        #expect(isTaken == (takes != false))
        #expect((try? EmailAddress(ofClient: "o@exämple.org", for: mail)) != nil)
    }

    @Test(arguments: ["capacitor://localhost", "ionic://localhost", "tauri://localhost", "http://tauri.localhost", "app://-"])
    func `origins of apps that are made of web pages can be allowed`(origin: String) throws {
        let settings = Settings(environment: ["CORS_ALLOWED_ORIGINS": origin])
        #expect(throws: Never.self) { try AllowedOrigins(settings) }
    }
}
