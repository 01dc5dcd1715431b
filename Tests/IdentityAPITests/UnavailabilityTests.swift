import Foundation
import HTTPClient
import HTTPTypes
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

@Suite("Requests while Postgres is away")
struct UnavailabilityTests {
    /// Runs an instance that reaches the database of another one through a proxy.
    private func withProxiedInstance(_ body: (IdentityFixture, FaultProxy, _ server: FaultProxy.Target) async throws -> Void) async throws {
        let address = try api.context.settings.string("DATABASE_URL", "the database of the test")
        let server = FaultProxy.Target.tcp(port: try await PostgresServer.shared().port)
        let proxy = try await FaultProxy.start(to: server)
        let user = try #require(address.split(separator: "/").dropFirst().first?.split(separator: "@").first)
        let database = try #require(address.split(separator: "/").last)
        let url = "postgresql://\(user)@127.0.0.1:\(proxy.port)/\(database)"
        try await withInstance(of: api, replacing: ["DATABASE_URL": url]) { try await body($0, proxy, server) }
        await proxy.stop()
    }

    @Test(.api) func `every request gets 503 unavailable at once, and the next one succeeds when Postgres is back`() async throws {
        let session = try await api.start()
        let bearer = [(name: "Authorization", value: "Bearer \(session.token)")]
        try await withProxiedInstance { away, proxy, server in
            #expect(try await away.send("GET", Path.session(session.id), headers: bearer).status == 200)
            try await proxy.point(to: .tcp(port: try FreePort.find()))
            try await proxy.cut()
            let start = ContinuousClock.now
            let statuses = try await race(40) { _ in
                let answer = try await away.send("GET", Path.session(session.id), headers: bearer)
                return "\(answer.refusal) \(answer.header("Retry-After") ?? "")"
            }
            #expect(Set(statuses) == ["503 unavailable 2"])
            // Two seconds by design; what waited for 30 seconds before fails this on a slow machine, too.
            #expect(ContinuousClock.now - start < .seconds(15))
            #expect(await away.context.health.report().failures.keys.contains("postgres"))
            try await proxy.point(to: server)
            try await eventually("the session is found again") {
                try await away.send("GET", Path.session(session.id), headers: bearer).status == 200
            }
        }
    }

    @Test(.api) func `an answer tells nothing of its cause, which the log has`() async throws {
        let cause = try #require(APIError(unavailability: PostgresError(code: .connectionLost, message: "canary")))
        #expect("\(cause)".contains("canary"))
        let session = try await api.start()
        let bearer = (name: "Authorization", value: "Bearer \(session.token)")
        try await withProxiedInstance { away, proxy, _ in
            #expect(try await away.send("GET", Path.session(session.id), headers: [bearer]).status == 200)
            try await proxy.point(to: .tcp(port: try FreePort.find()))
            try await proxy.cut()
            for (type, message) in [("application/json", "message"), ("application/problem+json", "detail")] {
                let answer = try await away.send("GET", Path.session(session.id), headers: [bearer, (name: "Accept", value: type)])
                #expect(answer.status == 503 && answer.header("Content-Type") == type)
                #expect(answer.json.text(message) == cause.message)
                for word in ["ostgres", "\(proxy.port)", "127.0.0.1", "SQL"] { #expect(!answer.text.contains(word), "\(word)") }
            }
        }
    }

    @Test(.api) func `an upload whose session cannot be written is refused as unavailable, and leaves no photo`() async throws {
        try await withProxiedInstance { away, proxy, _ in
            try await proxy.point(to: .tcp(port: try FreePort.find()))
            try await proxy.cut()
            #expect(try await away.send(.signIn(), to: Path.login).refusal == "503 unavailable")
            #expect(away.storedFiles().isEmpty)
        }
    }

    @Test(arguments: [
        ("08006", "503 unavailable"), ("25006", "503 unavailable"), ("53300", "503 unavailable"), ("42P01", "503 unavailable"),
        ("42501", "503 unavailable"), ("23505", "nil"), ("57014", "nil"), ("42601", "nil"),
    ])
    func `an error of the database is unavailability only if it says nothing about the request`(state: String, refusal: String) {
        let error = APIError(unavailability: PostgresError(code: .sqlState(state), message: ""))
        #expect((error.map { "\($0.code.status.code) \($0.code.rawValue)" } ?? "nil") == refusal)
    }
}
