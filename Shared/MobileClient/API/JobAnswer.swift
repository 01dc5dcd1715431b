internal import Foundation

/// The API's answer about a job. Only the members that the client needs are read; a member of an unexpected type counts as missing.
struct JobAnswer: Sendable {
    private struct Body: Decodable {
        var data: Content
    }

    private struct Content: Decodable {
        var id: String?
        var status: String?
        var result: Result?
        var failure: Reason?

        enum Keys: String, CodingKey {
            case id = "job_id"
            case status, result, error
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            id = try? members.decode(String.self, forKey: .id)
            status = try? members.decode(String.self, forKey: .status)
            result = try? members.decode(Result.self, forKey: .result)
            failure = try? members.decode(Reason.self, forKey: .error)
        }
    }

    private struct Result: Decodable {
        var base64: String?
        var imageURL: String?
        var thumbnailURL: String?
        var metadata: Metadata?

        enum Keys: String, CodingKey {
            case base64 = "processed_image_base64"
            case imageURL = "image_url"
            case thumbnailURL = "thumbnail_url"
            case metadata
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            base64 = try? members.decode(String.self, forKey: .base64)
            imageURL = try? members.decode(String.self, forKey: .imageURL)
            thumbnailURL = try? members.decode(String.self, forKey: .thumbnailURL)
            metadata = try? members.decode(Metadata.self, forKey: .metadata)
        }
    }

    private struct Metadata: Decodable {
        var templateName: String?
        var dimensions: [String: Int]?

        enum Keys: String, CodingKey {
            case templateName
            case dimensions = "processedDimensions"
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            templateName = try? members.decode(String.self, forKey: .templateName)
            dimensions = try? members.decode([String: Int].self, forKey: .dimensions)
        }
    }

    private struct Reason: Decodable {
        var code: String?
        var message: String?

        enum Keys: CodingKey { case code, message }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            code = try? members.decode(String.self, forKey: .code)
            message = try? members.decode(String.self, forKey: .message)
        }
    }

    /// The job's id; nil when the answer has no valid id.
    let id: String?
    /// The state of the job; a status that this version does not know counts as processing.
    let reading: JobReducer.ReadAnswer
    /// The entity tag of the answer, with which the next answer may be empty.
    let tag: String?
    /// The picture in the answer as base64 or a data URI.
    let inlinePicture: String?

    /// Reads an answer with a body, or a 304 without one.
    init(_ response: TransportResponse) throws {
        tag = response.headers["etag"].flatMap { $0.utf8.count <= 200 ? $0 : nil }
        guard response.status != 304 else {
            (id, reading, inlinePicture) = (nil, .active(status: nil), nil)
            return
        }
        let content = try JSONDecoder().decode(Body.self, from: response.body).data
        id = content.id.flatMap { JobsRequests.isJobID($0) ? $0 : nil }
        inlinePicture = content.result?.base64
        switch content.status {
        case "completed": reading = .ended(.completed(Self.picture(content.result)))
        case "failed":
            let code = content.failure?.code ?? "processing_failed"
            let message = content.failure?.message ?? "The picture could not be made"
            reading = .ended(.failed(.init(code: code.cut(toBytes: 100), message: String(message.cut(toBytes: 1_200).prefix(300)))))
        case let status?: reading = .active(status: status.cut(toBytes: 100))
        case nil: throw HeliographError(.unexpectedAnswer, "The answer about a job has no status", status: response.status)
        }
    }

    private static func picture(_ result: Result?) -> JobUpdate.Picture {
        // The size of the stored record is bounded, whatever the size of the answer.
        func short(_ text: String?) -> String? { text.flatMap { $0.utf8.count <= 4096 ? $0 : nil } }
        return JobUpdate.Picture(
            imageURL: short(result?.imageURL), thumbnailURL: short(result?.thumbnailURL),
            templateName: short(result?.metadata?.templateName), width: result?.metadata?.dimensions?["width"],
            height: result?.metadata?.dimensions?["height"])
    }
}

extension JobReducer {
    /// The meaning of an error for an order. Only an answer of the API itself is a refusal: a proxy on the way may answer anything.
    static func orderAnswer(_ error: HeliographError) -> OrderAnswer {
        isRefusal(error) ? .refused(failure(error)) : .unknown(retryAfter: seconds(error))
    }

    /// The meaning of an error for a job.
    static func readAnswer(_ error: HeliographError) -> ReadAnswer {
        if isGone(error) { return .ended(.expired) }
        if error.code == .forbidden, error.status == 403 { return .ended(.refused(failure(error))) }
        return .unknown(retryAfter: seconds(error))
    }

    /// The meaning of an error for a deletion. A job that the account may not see does not belong to this device's orders.
    static func deleteAnswer(_ error: HeliographError) -> DeleteAnswer {
        isGone(error) || (error.code == .forbidden && error.status == 403) ? .gone : .unknown(retryAfter: seconds(error))
    }

    static func failure(_ error: HeliographError) -> JobUpdate.Failure {
        JobUpdate.Failure(code: error.code.rawValue, message: error.message, field: error.field)
    }

    private static func isGone(_ error: HeliographError) -> Bool {
        error.status == 410 || (error.status == 404 && error.code == .jobNotFound)
    }

    private static func isRefusal(_ error: HeliographError) -> Bool {
        guard let status = error.status else { return error.code == .invalidArgument }
        // 401: the person signs in again, or signs out. 409: the first request with this key is under way.
        return (400..<500).contains(status) && ![401, 408, 409, 425, 429].contains(status) && !error.isRetryable
            && error.code != .unexpectedAnswer
    }

    private static func seconds(_ error: HeliographError) -> Int? {
        error.retryAfter.map { Int(min(max($0 / .seconds(1), 0), 3600).rounded(.up)) }
    }
}
