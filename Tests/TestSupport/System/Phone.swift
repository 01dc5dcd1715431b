import Foundation
public import HTTPClient
import Multipart

/// An answer of identity-api, decoded as far as the tests check it.
public struct Answer: Sendable {
    /// The status code.
    public let status: Int
    /// The headers in their order; names may repeat.
    public let headers: [(name: String, value: String)]
    /// The body as JSON; ``JSONAnswer/null`` when it is not JSON.
    public let body: JSONAnswer
    /// The bearer of the session, from the header `X-Session-Token`.
    public let sessionToken: String?

    /// The id of the session that an upload has begun; empty when the body has none.
    public var sessionID: String { body["data"]["session_id"].text ?? "" }
}

/// A phone with the app: has a push token, uploads photos, and waits for pushes.
public struct Phone: Sendable {
    /// The stack that the phone talks to.
    public let stack: Stack
    /// The FCM token of the phone.
    public private(set) var token: String
    /// The client's address, as a trusted proxy sends it; nil for that of the connection.
    private var address: String?
    /// The client of the API; nil for that of the stack.
    private var client: HTTPClient?

    private init(stack: Stack, token: String) {
        self.stack = stack
        self.token = token
    }

    /// Returns the phone at an address, as a trusted proxy sends it, with connections of its own if a client is given.
    public func at(_ address: String, through client: HTTPClient? = nil) -> Phone {
        var phone = self
        (phone.address, phone.client) = (address, client)
        return phone
    }

    /// Returns another phone, whose token FCM does not know: the service cannot tell.
    public func withInventedToken() -> Phone {
        var phone = self
        phone.token = String(token.dropLast(16)) + UUID().uuidString.filter { $0 != "-" }.prefix(16)
        return phone
    }

    /// Returns a phone with a new token of the emulator.
    public static func make(_ stack: Stack) async throws -> Phone { try await make(stack, "tokens") }

    /// Returns the same phone with a new token by FCM; the old one is dead.
    public func withNewToken() async throws -> Phone { try await Self.make(stack, "tokens/\(token)/rotate") }

    private static func make(_ stack: Stack, _ path: String) async throws -> Phone {
        let answer = try await stack.http.execute(
            HTTPClientRequest(method: "POST", url: stack.fcmURL + "/control/\(path)", timeout: .seconds(100)))
        guard let token = JSONAnswer.parse(answer.body)["token"].text else {
            throw DeadlineExceeded(description: "the emulator gave no token: \(answer.status)")
        }
        return Phone(stack: stack, token: token)
    }

    /// Waits until a session is terminal, and returns its record.
    ///
    /// - Throws: `DeadlineExceeded`, at once for an upload that was refused: no session would end.
    public func outcome(of answer: Answer) async throws -> JSONAnswer {
        guard answer.status == 200 else {
            throw DeadlineExceeded(description: "the upload was refused: \(answer.status) \(answer.body)")
        }
        return try await eventually("the session ends; worker: \(stack.tail(of: "face-matching-worker"))") {
            let record = try await get("/api/v1/ekyc/sessions/\(answer.sessionID)?wait=30", bearer: answer.sessionToken).body["data"]
            return ["succeeded", "failed", "expired"].contains(record["state"].text) ? record : nil
        }
    }

    /// Waits until this phone has at least `count` pushes, and returns all.
    public func pushes(count: Int = 1, within limit: Duration = .seconds(120)) async throws -> [JSONAnswer] {
        try await eventually(within: limit, "\(count) push(es) arrive; notifier: \(stack.tail(of: "notifier"))") {
            let url = "\(stack.fcmURL)/control/messages?token=\(token)&wait=5"
            let answer = try await stack.http.execute(HTTPClientRequest(url: url, timeout: .seconds(100)))
            let messages = JSONAnswer.parse(answer.body)["messages"].elements
            return messages.count >= count ? messages.map { $0["message"] } : nil
        }
    }

    /// Sends a GET request to identity-api; `path` begins with a slash.
    public func get(_ path: String, bearer: String? = nil) async throws -> Answer {
        try await send(HTTPClientRequest(method: "GET", url: stack.apiURL + path), bearer: bearer)
    }

    /// Sends a POST request without a body to identity-api.
    public func post(_ path: String, bearer: String? = nil) async throws -> Answer {
        try await send(HTTPClientRequest(method: "POST", url: stack.apiURL + path), bearer: bearer)
    }

    /// Sends a POST request with a JSON body to identity-api.
    public func post(_ path: String, json: String, bearer: String? = nil) async throws -> Answer {
        try await send("POST", path, json: json, bearer: bearer)
    }

    /// Sends a request, with a JSON body if there is one, and with a proof of the key of `device`.
    public func send(
        _ method: String, _ path: String, json: String? = nil, bearer: String? = nil, by device: DeviceSigner? = nil
    ) async throws -> Answer {
        let proof = try device?.proof(DeviceSigner.Claims(method, Stack.publicURL + path, token: bearer))
        return try await send(method, path, json: json, bearer: bearer, proof: proof)
    }

    /// Sends a request with a proof of a device's key, which may be a wrong one; without a proof if it is nil.
    public func send(
        _ method: String, _ path: String, json: String? = nil, bearer: String?, proof: String?
    ) async throws -> Answer {
        var request = HTTPClientRequest(method: method, url: stack.apiURL + path)
        if let proof { request.headers.append(("DPoP", proof)) }
        if let json {
            request.headers.append(("Content-Type", "application/json"))
            request.body = Array(json.utf8)
        }
        return try await send(request, bearer: bearer)
    }

    /// Returns the nonce of a possession check, as the app does.
    public func confirmPossession(_ check: JSONAnswer, bearer: String) async throws -> Answer {
        let (id, nonce) = (check["data"]["handover_id"].text ?? "", check["data"]["nonce"].text ?? "")
        let json = #"{"handover_id":"\#(id)","nonce":"\#(nonce)"}"#
        return try await post("/v1/users/device-token/confirm", json: json, bearer: bearer)
    }

    func post(
        _ path: String, _ form: MultipartForm, headers: [(name: String, value: String)] = [], bearer: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(method: "POST", url: stack.apiURL + path)
        request.headers = headers + [("Content-Type", form.contentType)]
        request.body = form.encoded()
        return try await send(request, bearer: bearer)
    }

    func send(_ request: HTTPClientRequest, bearer: String? = nil) async throws -> Answer {
        var request = request
        request.timeout = .seconds(70)
        if let bearer { request.headers.append(("Authorization", "Bearer \(bearer)")) }
        if let address, !request.headers.contains(where: { $0.name == "X-Forwarded-For" }) {
            request.headers.append(("X-Forwarded-For", address))
        }
        let response = try await (client ?? stack.http).execute(request)
        return Answer(
            status: response.status, headers: response.headers, body: JSONAnswer.parse(response.body),
            sessionToken: response.header("x-session-token"))
    }
}
