import Foundation
import HTTPClient
import TestSupport

/// An answer of identity-api, decoded as far as the tests look at it.
struct Answer: Sendable {
    let status: Int
    let body: JSONValue
    let sessionToken: String?

    var sessionID: String { body["data"]["session_id"].text ?? "" }
}

/// JSON that can be looked into without declaring a type for every answer.
enum JSONValue: Sendable, Decodable, Equatable {
    case object([String: JSONValue]), array([JSONValue]), text(String), number(Double), bool(Bool), null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    subscript(_ key: String) -> JSONValue {
        if case .object(let members) = self { return members[key] ?? .null }
        return .null
    }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

    static func parse(_ bytes: [UInt8]) -> JSONValue {
        (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))) ?? .null
    }
}

/// A phone with the app on it: has a push token, uploads photos, and waits for what arrives.
struct Phone: Sendable {
    let stack: Stack
    let token: String

    static func make(_ stack: Stack) async throws -> Phone {
        let answer = try await stack.http.execute(HTTPClientRequest(method: "POST", url: stack.fcmURL + "/control/tokens"))
        guard let token = JSONValue.parse(answer.body)["token"].text else {
            throw DeadlineExceeded(description: "the emulator gave no token: \(answer.status)")
        }
        return Phone(stack: stack, token: token)
    }

    /// Uploads nine photos; the names are those of `.cache/photos`.
    func signUp(
        email: String, left: [String] = Photos.left, right: [String] = Photos.right, front: [String] = Photos.front
    ) async throws -> Answer {
        var form = MultipartForm()
        form.add("fcm_token", token)
        form.add("email", email)
        for (field, names) in [("left_faces", left), ("right_faces", right), ("front_faces", front)] {
            for name in names { form.add(field, file: name, try Photos.load(name)) }
        }
        return try await post("/api/v1/ekyc/upload-photos", form)
    }

    func signIn(email: String, faces: [String]) async throws -> Answer {
        var form = MultipartForm()
        form.add("email", email)
        form.add("fcm_token", token)
        for name in faces { form.add("faces", file: name, try Photos.load(name)) }
        return try await post("/api/v1/ekyc/login", form)
    }

    /// The session's record, once it is terminal.
    func outcome(of answer: Answer) async throws -> JSONValue {
        try await eventually(within: .seconds(60), "the session ends; worker: \(stack.tail(of: "face-matching-worker"))") {
            let record = try await get("/api/v1/ekyc/sessions/\(answer.sessionID)?wait=30", bearer: answer.sessionToken).body["data"]
            return ["succeeded", "failed", "expired"].contains(record["state"].text) ? record : nil
        }
    }

    /// The pushes of this phone, once there are `count` of them.
    func pushes(count: Int = 1, within limit: Duration = .seconds(60)) async throws -> [JSONValue] {
        try await eventually(within: limit, "\(count) push(es) arrive; notifier: \(stack.tail(of: "notifier"))") {
            let url = "\(stack.fcmURL)/control/messages?token=\(token)&wait=5"
            let answer = try await stack.http.execute(HTTPClientRequest(url: url))
            let messages = JSONValue.parse(answer.body)["messages"].elements
            return messages.count >= count ? messages.map { $0["message"] } : nil
        }
    }

    func get(_ path: String, bearer: String? = nil) async throws -> Answer {
        try await send(HTTPClientRequest(method: "GET", url: stack.apiURL + path), bearer: bearer)
    }

    func post(_ path: String, bearer: String? = nil) async throws -> Answer {
        try await send(HTTPClientRequest(method: "POST", url: stack.apiURL + path), bearer: bearer)
    }

    private func post(_ path: String, _ form: MultipartForm) async throws -> Answer {
        var request = HTTPClientRequest(method: "POST", url: stack.apiURL + path)
        request.headers = [("Content-Type", form.contentType)]
        request.body = form.encoded()
        return try await send(request)
    }

    private func send(_ request: HTTPClientRequest, bearer: String? = nil) async throws -> Answer {
        var request = request
        request.timeout = .seconds(70)
        if let bearer { request.headers.append(("Authorization", "Bearer \(bearer)")) }
        let response = try await stack.http.execute(request)
        return Answer(
            status: response.status, body: JSONValue.parse(response.body), sessionToken: response.header("x-session-token"))
    }
}

/// A `multipart/form-data` body, put together as a phone does.
struct MultipartForm {
    private let boundary = "heliograph-\(UUID().uuidString)"
    private var bytes: [UInt8] = []

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    mutating func add(_ name: String, _ value: String) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
    }

    mutating func add(_ name: String, file: String, _ contents: [UInt8]) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file).jpg\"\r\n".utf8
        bytes += "Content-Type: image/jpeg\r\n\r\n".utf8
        bytes += contents
        bytes += "\r\n".utf8
    }

    func encoded() -> [UInt8] { bytes + Array("--\(boundary)--\r\n".utf8) }
}

/// The public-domain portraits that `make setup` fetched, and the views made from them.
enum Photos {
    static let left = (1...3).map { "person-a/left-\($0)" }
    static let right = (1...3).map { "person-a/right-\($0)" }
    static let front = (1...3).map { "person-a/front-\($0)" }
    static let sameFace = (1...3).map { "person-a/sign-in-\($0)" }
    static let otherFace = (1...3).map { "person-b/sign-in-\($0)" }

    static func load(_ name: String) throws -> [UInt8] {
        let path = try PackageRoot.file(".cache/photos/\(name).jpg")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
