import PostgresClient
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct CheckOrderTests {
    @Test(.api { $0.limits.signals = Rate(perMinute: 1, burst: 2) })
    func `the bearer is checked first, then the limit, a recent sign-in and the body`() async throws {
        let (path, ada) = ("/v1/users/me/email", try await api.customer())
        #expect(try await api.json("PUT", path, "{").refusal == "401 unauthorized")
        #expect(try await api.json("PUT", path, "{", by: ada).refusal == "400 invalid_request")
        try await api.postgres.execute("UPDATE access_tokens SET signed_in_at = now() - interval '6 minutes'")
        #expect(try await api.json("PUT", path, "{", by: ada).refusal == "403 reauthentication_required")
        #expect(try await api.json("PUT", path, "{", by: ada).refusal == "429 rate_limited")
    }

    @Test(.api) func `the path is checked before the body`() async throws {
        let ada = try await api.customer()
        for (topic, refusal) in [("nonsense", "400 invalid_request topic"), ("event:1", "415 unsupported_media_type")] {
            let response = try await api.send("PUT", "/v1/topics/\(topic)/settings", headers: [ada.bearer], body: Array("{".utf8))
            #expect(response.refusal == refusal)
        }
    }

    @Test(
        .api {
            $0.limits.orders = Rate(perMinute: 1, burst: 1)
            $0.limits.photos = Rate(perMinute: 1, burst: 1)
        },
        arguments: [(Order.path, "415 unsupported_media_type"), ("/v1/topics/event:foreign/photos", "404 topic_not_found")])
    func `an upload counts against its account's limit, whatever else is wrong with it`(path: String, refusal: String) async throws {
        let ada = try await api.customer()
        let headers = [ada.bearer] + (path == Order.path ? [] : [("Content-Type", "multipart/form-data; boundary=x")])
        #expect(try await api.send("POST", path, headers: headers, body: []).refusal == refusal)
        #expect(try await api.send("POST", path, headers: headers, body: []).refusal == "429 rate_limited")
    }

    @Test(.api, arguments: [Path.signUp, Path.login])
    func `the bearer of an upload is checked before its content type`(path: String) async throws {
        let unknown = ("Authorization", "Bearer \(OpaqueToken.enrolmentPrefix)unknown")
        #expect(try await api.send("POST", path, headers: [unknown], body: []).refusal == "401 unauthorized")
        #expect(try await api.send("POST", path, body: []).refusal == "415 unsupported_media_type")
    }
}
