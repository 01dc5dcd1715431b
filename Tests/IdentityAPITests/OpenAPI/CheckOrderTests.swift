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
}
