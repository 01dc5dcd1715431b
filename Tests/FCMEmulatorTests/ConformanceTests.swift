import FCM
import FCMEmulator
import Foundation
import HTTPClient
import JSON
import TestSupport
import Testing

/// A request that FCM was observed, or is documented, to refuse, with its answer. The vectors are in a file that does not depend
/// on the emulator's own texts.
struct RefusalVector: Sendable, CustomTestStringConvertible {
    let json: JSONValue

    static let all: [RefusalVector] = {
        guard let file = FileManager.default.contents(atPath: PackageRoot.path + "/Tests/Golden/fcm-refusals.json"),
            let vectors = (try? JSONValue(parsing: [UInt8](file)))?["vectors"]?.elements
        else { return [] }
        return vectors.map(RefusalVector.init)
    }()

    var testDescription: String { json["name"]?.string ?? "?" }
    var status: Int { json["status"]?.integer ?? 0 }
    var answer: String { (json["answer"]?.elements ?? []).compactMap(\.string).map { $0 + "\n" }.joined() }
    var isForProduction: Bool { json["production"]?.boolean ?? false }

    /// Returns the request with its placeholders replaced.
    func request(_ substitutes: [String: String]) -> String {
        var text = json["request"]?.text ?? ""
        text.replace("X4600", with: String(repeating: "x", count: 4600))
        for (name, value) in substitutes { text.replace("\"\(name)\"", with: "\"\(value)\"") }
        return text
    }
}

@Suite struct ConformanceTests {
    private var fixture: Fixture { .current }

    /// The path of a service-account key of a real project, for requests to FCM itself (`validate_only`; no message is sent).
    static let keyFile = ProcessInfo.processInfo.environment["FCM_CONFORMANCE_KEY"]

    @Test func `there are vectors`() {
        #expect(RefusalVector.all.count >= 20)
    }

    @Test(.emulator, arguments: RefusalVector.all)
    func `the emulator refuses with the same bytes as FCM`(_ vector: RefusalVector) async throws {
        let emulator = fixture.emulator
        let (dead, deadFID) = (emulator.mintToken(), emulator.mintFID())
        emulator.deleteToken(dead)
        emulator.deleteToken(deadFID)
        let body = vector.request([
            "TOKEN": emulator.mintToken(), "DEAD_TOKEN": dead, "DEAD_FID": deadFID,
            "FOREIGN_TOKEN": emulator.mintToken(project: "another"),
        ])
        if let fault = vector.json["fault"] {
            #expect(try await fixture.call("POST", "/control/faults", fault.text).status == 201)
        }
        let authorization = vector.json["authorization"].map { $0.string } ?? ""
        let answer = try await fixture.send(
            body, project: vector.json["project"]?.string ?? "heliograph-dev", authorization: authorization)
        #expect(answer.status == vector.status)
        #expect(answer.text == vector.answer)
        #expect(answer.response.header("content-type") == "application/json; charset=UTF-8")
        #expect(emulator.statistics.accepted == 0)
    }

    @Test(.enabled(if: keyFile != nil, "FCM itself is not asked: FCM_CONFORMANCE_KEY names no service-account key"))
    func `FCM itself refuses as in the vectors`() async throws {
        let file = try Data(contentsOf: URL(filePath: try #require(Self.keyFile)))
        let key = try ServiceAccountKey(json: [UInt8](file))
        let http = HTTPClient(configuration: HTTPClientConfiguration(), logger: FCMEmulator.quietLogger)
        let tokens = try CachedTokenSource(
            key: key, tokenURL: "https://oauth2.googleapis.com/token", http: http, logger: FCMEmulator.quietLogger)
        let token = try await tokens.accessToken()
        for vector in RefusalVector.all where vector.isForProduction {
            let body = vector.request([:]).dropLast() + #","validate_only":true}"#
            let answer = try await http.execute(
                HTTPClientRequest(
                    method: "POST", url: "https://fcm.googleapis.com/v1/projects/\(key.projectID)/messages:send",
                    headers: [("authorization", "Bearer " + token), ("content-type", "application/json")],
                    body: Array(body.utf8), timeout: .seconds(30)))
            #expect(answer.status == vector.status, "\(vector)")
            #expect(try JSONValue(parsing: answer.body) == JSONValue(parsing: Array(vector.answer.utf8)), "\(vector)")
        }
        await http.shutdown()
    }
}
