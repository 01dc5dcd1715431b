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

    /// Signs up with an e-mail and proves it by the code that is mailed: makes the account.
    ///
    /// - Returns: The answer to the upload, and the account's id.
    public func enrol(email: String) async throws -> (upload: Answer, userID: String) {
        let upload = try await signUp(email: email)
        let record = try await outcome(of: upload)
        guard let verification = record["verification_id"].text else {
            throw DeadlineExceeded(description: "no verification: \(record)")
        }
        let verified = try await verify(verification, code: try await mailedCode(to: email, for: record["reference"].text))
        guard let user = verified.body["data"]["user_id"].text else {
            throw DeadlineExceeded(description: "the code was not taken: \(verified.body)")
        }
        return (upload, user)
    }

    /// Enters a code.
    public func verify(_ verification: String, code: String) async throws -> Answer {
        try await post("/v1/auth/verify", json: #"{"verification_id":"\#(verification)","code":"\#(code)"}"#)
    }

    /// Returns the number of mails to an address so far.
    public func mailCount(to email: String) async throws -> Int {
        let request = HTTPClientRequest(url: "\(stack.fcmURL)/control/mails?to=\(email)", timeout: .seconds(100))
        return JSONAnswer.parse(try await stack.http.execute(request).body)["mails"].elements.count
    }

    /// Waits for the mail number `count` to an address, and returns the code in it.
    ///
    /// - Parameter reference: What the request for the code was answered with; nil takes the first code.
    public func mailedCode(to email: String, for reference: String? = nil, count: Int = 1) async throws -> String {
        try await eventually("a code is mailed; identity-api: \(stack.tail(of: "identity-api"))") {
            let url = "\(stack.fcmURL)/control/mails?to=\(email)&count=\(count)&wait=5"
            let answer = try await stack.http.execute(HTTPClientRequest(url: url, timeout: .seconds(100)))
            let mails = JSONAnswer.parse(answer.body)["mails"].elements
            guard mails.count >= count, let text = mails.last?["text"].text, reference.map({ text.contains($0) }) ?? true,
                let code = (text.split(separator: "\n").first { $0.hasPrefix("\(reference ?? "-") ") } ?? text[...])
                    .firstMatch(of: #/[0-9]{6}/#)
            else { return nil }
            return String(code.output)
        }
    }

    /// Exchanges a sign-in that succeeded for tokens: with the code that is mailed if the phone is new to the account. The time between
    /// two mails to an address is not part of this.
    ///
    /// - Parameter device: The key of the phone, which the sign-in was uploaded with.
    public func redeem(_ login: Answer, email: String, by device: DeviceSigner? = nil) async throws -> Answer {
        let path = "/api/v1/ekyc/sessions/\(login.sessionID)/token"
        // Of this address alone: the codes of a mail that is on its way end with its row.
        try await stack.database.psql(
            "DELETE FROM code_mails m USING sessions s JOIN email_lookups l ON l.user_id = s.user_id "
                + "WHERE s.id = '\(login.sessionID)' AND m.email_lookups @> ARRAY[l.lookup] AND m.requested_at IS NOT NULL")
        let mails = try await mailCount(to: email)
        let answer = try await send("POST", path, bearer: login.sessionToken, by: device)
        guard answer.body["error"]["code"].text == "verification_required" else { return answer }
        let code = try await mailedCode(to: email, for: answer.body["error"]["reference"].text, count: mails + 1)
        return try await send("POST", path, json: #"{"code":"\#(code)"}"#, bearer: login.sessionToken, by: device)
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
