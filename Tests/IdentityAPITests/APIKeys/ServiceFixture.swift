import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Testing

@testable import IdentityAPI

/// The key of an app's own server.
struct TestService: Sendable {
    let key: ServiceKey
    let app: String

    var bearer: (name: String, value: String) { ("Authorization", "Bearer \(key.text)") }
}

extension IdentityFixture {
    /// Makes a credential.
    func service(
        _ scopes: ServiceScope..., app: String = "photoshare", lifetime: Duration? = nil
    ) async throws -> TestService {
        let key = ServiceKey.generate()
        let new = NewServiceCredential(app: app, name: "test", scopes: Set(scopes), lifetime: lifetime)
        _ = try await ServiceCredentialRepository(postgres).insert(new, key: key)
        return TestService(key: key, app: app)
    }

    func send(_ method: String, _ path: String, by service: TestService, json: String? = nil) async throws -> HTTPClientResponse {
        let headers = [service.bearer] + (json == nil ? [] : [(name: "Content-Type", value: "application/json")])
        return try await send(method, path, headers: headers, body: Array((json ?? "").utf8))
    }
}
