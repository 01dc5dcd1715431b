import Foundation
import HTTPClient
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HeliographLoad

struct LoadRetriesTests {
    /// Sends an order to a server, and returns the failure, if it fails.
    private func order(_ server: ScriptedServer, _ retries: LoadRetries) async throws -> LoadFailure? {
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http"]
        let http = HTTPClient(configuration: configuration, logger: Logger(label: "load"))
        let api = LoadAPI(url: "http://127.0.0.1:\(server.port)", http: http, patience: .seconds(60), retries: retries)
        do throws(LoadFailure) {
            _ = try await api.send("POST", "/v1/images/process", json: ["a": "b"], key: UUID(), for: .answer)
            await http.shutdown()
            return nil
        } catch {
            await http.shutdown()
            return error
        }
    }

    @Test func `a request without an answer is sent again with the same id and body`() async throws {
        let requests = Mutex<[String]>([])
        let server = try await ScriptedServer { connection in
            let text = try await connection.readRequest()
            requests.withLock { $0.append(text) }
            switch connection.number {
            case 0: break
            case 1: try await connection.writeResponse("409 Conflict", body: #"{"error":{"code":"request_in_progress"}}"#)
            default: try await connection.writeResponse(body: "{}")
            }
        }
        let retries = LoadRetries(time: .seconds(60))
        #expect(try await order(server, retries) == nil)
        #expect(retries.counts == ["connection lost": 1, "409 request_in_progress": 1])
        let sent = requests.withLock { $0 }
        #expect(sent.count == 3 && Set(sent).count == 1)
    }

    @Test func `an answer is not asked for again`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.writeResponse("409 Conflict", body: #"{"error":{"code":"request_in_progress"}}"#)
        }
        let retries = LoadRetries(time: .seconds(60))
        #expect(try await order(server, retries)?.reason == "409 request_in_progress")
        #expect(retries.counts == [:])
    }

    @Test func `without retries a lost connection is a failure`() async throws {
        let server = try await ScriptedServer { connection in _ = try await connection.readRequest() }
        #expect(try await order(server, LoadRetries(time: .zero))?.reason == "connection lost")
    }
}
