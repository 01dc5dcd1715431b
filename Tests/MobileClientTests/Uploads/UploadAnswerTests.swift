import Foundation
import Testing

@testable import MobileClient

/// What the end of a task says of its order.
@Suite struct UploadAnswerTests {
    private typealias Outcome = BackgroundUploadReducer.Outcome

    /// The outcome in a word.
    private func word(_ end: Result<TransportResponse, TransportError>) -> String {
        switch Outcome(end, requestID: "r", now: Date(timeIntervalSince1970: 0)) {
        case .accepted(let job): "accepted \(job)"
        case .refused(let refusal): "refused \(refusal.code)"
        case .unauthorized: "unauthorized"
        case .again(let seconds, _, let isCounted): "again \(seconds.map(String.init) ?? "-")\(isCounted ? " counted" : "")"
        }
    }

    private func answer(_ status: Int, _ code: String? = nil, retryAfter: String? = nil, body: String = "<html>") -> String {
        let text = code.map { #"{"success":false,"code":1,"message":"m","error":{"code":"\#($0)"}}"# } ?? body
        var response = TransportResponse.json(text, status: status)
        response.headers["Retry-After"] = retryAfter
        return word(.success(response))
    }

    @Test(arguments: [200, 202])
    func `an answer with a job accepts`(status: Int) {
        #expect(answer(status, body: #"{"success":true,"data":{"job_id":"a-1","status":"new","more":[1]}}"#) == "accepted a-1")
    }

    @Test(arguments: [
        "", "{}", "<html>", #"{"data":{}}"#, #"{"data":{"job_id":7}}"#, #"{"data":{"job_id":""}}"#, #"{"data":{"job_id":"../a"}}"#,
        #"{"data":{"job_id":"a\#nb"}}"#, #"{"data":{"job_id":"\#(String(repeating: "a", count: 65))"}}"#, #"{"data":{"job_id":"cut"#,
    ])
    func `a success without a job is repeated`(body: String) { #expect(answer(200, body: body) == "again - counted") }

    @Test(arguments: [(400, "template_not_found"), (403, "forbidden"), (415, "unsupported_media_type"), (422, "idempotency_key_reused")])
    func `what the API refuses is refused`(status: Int, code: String) { #expect(answer(status, code) == "refused \(code)") }

    @Test(arguments: [301, 302, 400, 401, 403, 404, 407, 500, 502, 511])
    func `what a proxy refuses is repeated`(status: Int) { #expect(answer(status) == "again - counted") }

    @Test(arguments: [408, 409, 429, 500, 503])
    func `what the API asks to repeat is repeated`(status: Int) {
        #expect(answer(status, status == 409 ? "request_in_progress" : "busy", retryAfter: "7") == "again 7 counted")
    }

    @Test func `a refused bearer is no refused order`() { #expect(answer(401, "unauthorized") == "unauthorized") }
    @Test func `a body that is too large is refused also by a proxy`() { #expect(answer(413) == "refused payload_too_large") }

    @Test(arguments: [TransportError.Code.notConnected, .connectionLost, .timedOut, .cancelled, .untrusted, .other])
    func `a task without an answer is repeated, as often as it takes`(code: TransportError.Code) {
        #expect(word(.failure(TransportError(code, "m"))) == "again -")
    }

    @Test func `a file that cannot be read ends its order`() { #expect(word(.failure(TransportError(.file, "m"))) == "refused storage") }

    @Test func `pauses grow to a quarter of an hour, and sixteen answers end an order`() {
        let id = UUID()
        var state = BackgroundUploadReducer.State(isStarted: true)
        state.uploads[id] = .init(phase: .live(0), createdAt: Date(timeIntervalSince1970: 0))
        var delays: [Int] = []
        let refusal = BackgroundUploadReducer.Refusal(.overloaded, "full")
        var effects: [BackgroundUploadReducer.Effect] = []
        for task in 0..<16 {
            effects = BackgroundUploadReducer.reduce(&state, .completed(id, task: task, .again(after: nil, refusal, isCounted: true)))
            for case .create(_, let delay) in BackgroundUploadReducer.reduce(&state, .bearer(.ready(owner: nil))) { delays.append(delay) }
            _ = BackgroundUploadReducer.reduce(&state, .created(id, task: task + 1))
        }
        #expect(delays == [2, 4, 8, 16, 32, 64, 128, 256, 512] + Array(repeating: 900, count: 6))
        #expect(effects == [.save(id, .refused(refusal))])
    }

    @Test func `a network that is away ends no order`() {
        let id = UUID()
        var state = BackgroundUploadReducer.State(isStarted: true)
        state.uploads[id] = .init(phase: .live(0), createdAt: Date(timeIntervalSince1970: 0), attempts: 1_000)
        let refusal = BackgroundUploadReducer.Refusal(.unreachable, "away")
        let effects = BackgroundUploadReducer.reduce(&state, .completed(id, task: 0, .again(after: 5_000, refusal, isCounted: false)))
        #expect(effects == [.saveAttempts(id, 1_001), .fetchBearer(fresh: false)] && state.uploads[id]?.delay == 60)
    }
}
