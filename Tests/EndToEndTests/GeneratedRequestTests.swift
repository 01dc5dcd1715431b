import Foundation
import TestSupport
import Testing

/// Sends the stack requests that Schemathesis makes from `/openapi.json`; `make verify-api` sends more.
@Suite struct GeneratedRequestTests {
    @Test func `generated requests get answers that the description of the API names`() async throws {
        let stack = try await Stack.shared()
        let folder = try TemporaryDirectory()
        let settings = ["IDENTITY_API_URL": stack.apiURL, "FCM_URL": stack.fcmURL, "DATABASE_URL": stack.database.url]
        try settings.map { "\($0)='\($1)'\n" }.joined().write(toFile: folder.path + "/stack.env", atomically: true, encoding: .utf8)
        let binaries = URL(fileURLWithPath: try PackageRoot.executable("heliographctl")).deletingLastPathComponent().path
        // The requests are the same each time, so that a failure can be repeated.
        try await CommandLineTool.run(
            [PackageRoot.file("deploy/verify/api.sh"), "2", "--generation-deterministic"],
            environment: ["HELIOGRAPH_RUN": folder.path, "HELIOGRAPH_BINARIES": binaries])
    }
}
