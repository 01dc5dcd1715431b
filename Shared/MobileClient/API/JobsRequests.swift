internal import Foundation

/// The requests about orders of pictures.
enum JobsRequests {
    /// The longest answer: a picture in base64, as it is where the API has no links.
    static let maxInlineBytes = 32 << 20

    /// Orders a picture; answers with the job's id. A repetition by the same key answers with the same job for 24 hours.
    static func order(file: URL, boundary: String, key: UUID) -> APIRequest<String> {
        APIRequest(
            method: "POST", path: "/v1/images/process", body: .multipart(file: file, boundary: boundary), idempotencyKey: key
        ) { try ordered($0) }
    }

    /// The id of the job in the answer to an order; other members of the answer are ignored.
    static func ordered(_ response: TransportResponse, requestID: String? = nil) throws(HeliographError) -> String {
        struct Content: Decodable {
            var jobID: String

            enum CodingKeys: String, CodingKey { case jobID = "job_id" }
        }
        guard let content: Content = try? WireJSON.content(response), isJobID(content.jobID) else {
            throw HeliographError(
                .unexpectedAnswer, "The answer to an order names no job", status: response.status, requestID: requestID)
        }
        return content.jobID
    }

    /// Reads a job, with links to its picture; with the tag of an earlier answer, an unchanged answer has no body.
    static func read(_ jobID: String, for trigger: JobReducer.Trigger, tag: String? = nil) -> APIRequest<JobAnswer> {
        var headers: TransportHeaders = ["X-Client-Trigger": trigger.rawValue]
        if let tag { headers["If-None-Match"] = tag }
        return APIRequest(
            method: "GET", path: path(jobID), query: [URLQueryItem(name: "result", value: "url")], headers: headers,
            maxAnswerBytes: maxInlineBytes
        ) { try JobAnswer($0) }
    }

    /// Reads a job with its picture in the answer.
    static func readInline(_ jobID: String) -> APIRequest<JobAnswer> {
        APIRequest(method: "GET", path: path(jobID), timeout: .seconds(120), maxAnswerBytes: maxInlineBytes) { try JobAnswer($0) }
    }

    /// Cancels a job, or deletes it with its pictures.
    static func delete(_ jobID: String) -> APIRequest<Void> { APIRequest(method: "DELETE", path: path(jobID)) { _ in } }

    /// The progress of a job as server-sent events. The API sends a comment every 15 seconds.
    static func events(_ jobID: String) -> APIRequest<Void> {
        APIRequest(method: "GET", path: path(jobID) + "/events", timeout: .seconds(45)) { _ in }
    }

    static func list(cursor: String?, limit: Int) -> APIRequest<ImagesClient.Page> {
        let after = cursor.map { [URLQueryItem(name: "cursor", value: $0)] } ?? []
        return APIRequest(
            method: "GET", path: "/v1/images/jobs", query: [URLQueryItem(name: "limit", value: "\(limit)")] + after
        ) { try WireJSON.content($0) }
    }

    /// Whether a text can be an id of a job: it becomes a part of a path.
    static func isJobID(_ text: String) -> Bool { text.isPlain(upTo: 64) }

    private static func path(_ jobID: String) -> String { "/v1/images/jobs/\(jobID)" }
}
