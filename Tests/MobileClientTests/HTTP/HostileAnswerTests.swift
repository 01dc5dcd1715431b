import Foundation
import Testing

@testable import MobileClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers that no server of this API gives.
@Suite struct HostileAnswerTests {
    private let folder: TemporaryFolder
    private let url = URL(filePath: "/answer")
    private var file: URL { folder.url.appending(path: "picture") }

    init() throws { folder = try TemporaryFolder() }

    private func head(_ status: Int = 200) throws -> HTTPURLResponse {
        try #require(
            HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1",
                headerFields: ["Content-Type": "multipart/x-mixed-replace; boundary=a"])
        )
    }

    // URLSession on Apple's systems reports the head of each part of such an answer.
    @Test func `an answer of several parts leaves no file`() async throws {
        let transfer = Transfer(to: .file(file), maxBytes: 1_000)
        let head = try head()
        #expect(transfer.receive(head) && transfer.receive(Data("GIF89a".utf8)))
        #expect(!transfer.receive(head))
        transfer.complete(nil)
        guard case .failure(let error) = await transfer.outcome() else {
            Issue.record("the answer is taken")
            return
        }
        #expect(error.code == .tooLong && folder.files.isEmpty)
    }

    @Test func `the head of an answer may follow the one of an interim answer`() async throws {
        let transfer = Transfer(to: .file(file), maxBytes: 1_000)
        let heads = [try head(103), try head()]
        #expect(heads.allSatisfy { transfer.receive($0) } && transfer.receive(Data("GIF89a".utf8)))
        transfer.complete(nil)
        #expect(try await transfer.outcome().get().status == 200)
        #expect(folder.files == ["picture"])
    }

    @Test func `an error keeps little of an answer, whatever it consists of`() throws {
        // One character for Swift, and many bytes.
        let long = "a" + String(repeating: "\u{301}", count: 200_000)
        let body = try JSONSerialization.data(withJSONObject: ["error": ["code": long, "field": long], "message": long])
        let response = TransportResponse(status: 400, headers: ["X-Request-ID": long], body: body)
        let error = HeliographError(response, requestID: "r", now: Date())
        for text in [error.code.rawValue, error.field ?? "", error.requestID ?? "", error.message] {
            #expect(text.utf8.first == UInt8(ascii: "a") && text.utf8.count <= 1_200)
        }
    }

    @Test func `a job keeps little of an answer, whatever it consists of`() throws {
        let long = "a" + String(repeating: "\u{301}", count: 200_000)
        let failed: [String: Any] = ["job_id": "j", "status": "failed", "error": ["code": long, "message": long]]
        let answer = try JobAnswer(TransportResponse(status: 200, body: JSONSerialization.data(withJSONObject: ["data": failed])))
        guard case .ended(.failed(let failure)) = answer.reading else {
            Issue.record("\(answer.reading)")
            return
        }
        #expect(failure.code.utf8.count <= 1_200 && failure.message.utf8.count <= 1_200)
        let active = try JobAnswer(
            TransportResponse(status: 200, body: JSONSerialization.data(withJSONObject: ["data": ["job_id": "j", "status": long]])))
        guard case .active(let status?) = active.reading else {
            Issue.record("\(active.reading)")
            return
        }
        #expect(status.utf8.count <= 1_200)
    }
}
