import Foundation

@testable import MobileClient

/// The API's part about pictures, whose jobs end when a test says so.
actor FakeImagesAPI {
    typealias Sent = ScriptedSender.Sent

    /// A job, and its status of the API.
    struct Job { var key: UUID, status: String }

    private(set) var requests: [Sent] = []
    private(set) var jobs: [String: Job] = [:]
    /// The most requests at a time, without orders.
    private(set) var mostAtOnce = 0
    private var byKey: [UUID: String] = [:]
    private var atOnce = 0
    /// Errors of the next requests of a method, in order; nil lets one pass.
    private var faults: [String: [HeliographError?]] = [:]
    /// Methods whose next answer is lost after the API has handled the request.
    private var lost: [String: Int] = [:]
    private var held: Set<String> = []
    private var holding: [CheckedContinuation<Void, Never>] = []
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private var stream = ""

    static let unreachable = HeliographError(.unreachable, "no network", isRetryable: true)

    // MARK: What a test says

    func fail(_ method: String, _ errors: HeliographError?...) { faults[method, default: []] += errors }
    func loseAnswer(_ method: String, times: Int = 1) { lost[method] = times }
    func set(_ status: String, of id: String? = nil) { for key in id.map({ [$0] }) ?? Array(jobs.keys) { jobs[key]?.status = status } }
    func removeJobs() { jobs = [:] }
    func setStream(_ text: String) { stream = text }

    /// Keeps answers of a method back until ``release()``.
    func hold(_ method: String) { held.insert(method) }

    func release() {
        held = []
        holding.forEach { $0.resume() }
        holding = []
    }

    /// Waits until so many requests have come, of all methods.
    func waitForRequests(_ count: Int) async {
        guard requests.count < count else { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }

    // MARK: Answers

    func answer(_ sent: Sent) async throws(HeliographError) -> TransportResponse {
        requests.append(sent)
        let reached = watchers.filter { $0.count <= requests.count }
        watchers.removeAll { $0.count <= requests.count }
        reached.forEach { $0.continuation.resume() }
        let counts = sent.method == "POST" ? 0 : 1
        atOnce += counts
        mostAtOnce = max(mostAtOnce, atOnce)
        defer { atOnce -= counts }
        if let errors = faults[sent.method], !errors.isEmpty, let error = faults[sent.method]?.removeFirst() { throw error }
        let response = handle(sent)
        // Held after it was handled, so that the answer may be older than what happens meanwhile.
        if held.contains(sent.method) { await withCheckedContinuation { holding.append($0) } }
        if let count = lost[sent.method], count > 0 {
            lost[sent.method] = count - 1
            throw Self.unreachable
        }
        guard let response else { throw HeliographError(.jobNotFound, "Job not found", status: 404) }
        return response
    }

    /// nil is a job that does not exist.
    private func handle(_ sent: Sent) -> TransportResponse? {
        if sent.method == "POST", let key = sent.idempotencyKey { return ordered(by: key) }
        let id = sent.path.split(separator: "/")[3]
        guard let job = jobs[String(id)] else { return nil }
        if sent.method == "DELETE" {
            jobs[String(id)] = nil
            return TransportResponse(status: 204)
        }
        if sent.path.hasSuffix("/events") {
            return TransportResponse(status: 200, headers: ["content-type": "text/event-stream"], body: Data(stream.utf8))
        }
        let tag = "W/\"\(id)-\(job.status)\""
        if sent.headers["If-None-Match"] == tag { return TransportResponse(status: 304, headers: ["etag": tag]) }
        var response = TransportResponse.json(Self.text(of: String(id), job.status))
        response.headers["etag"] = tag
        return response
    }

    private func ordered(by key: UUID) -> TransportResponse {
        let id = byKey[key] ?? "job-\(byKey.count + 1)"
        if byKey[key] == nil { jobs[id] = Job(key: key, status: "pending") }
        byKey[key] = id
        return .json(#"{"success":true,"data":{"job_id":"\#(id)","status":"pending"}}"#, status: 202)
    }

    private static func text(of id: String, _ status: String) -> String {
        let end =
            switch status {
            case "completed":
                #","result":{"image_url":"https://cdn.example/\#(id).png","metadata":{"templateName":"Ink"}}"#
            case "failed": #","error":{"code":"processing_failed","message":"No picture"}"#
            default: ""
            }
        return #"{"success":true,"data":{"job_id":"\#(id)","status":"\#(status)"\#(end)}}"#
    }
}
