import Foundation

@testable import MobileClient

/// The part of the API that sessions use, with its repetitions, its times and its tokens.
final class EKYCServer: @unchecked Sendable {
    struct Session {
        var id: UUID
        var token: String
        var key: UUID
        var isSignIn: Bool
        var bodyLength: Int
        var createdAt: Date
        var decidedAt: Date?
        var asks = 0
        var redemptions = 0
        /// Whether it retakes photos of another session.
        var isRetake = false
        var isRetaken = false
    }

    // All members are read and written under `lock`.
    private let lock = NSLock()
    private let time: ManualTime
    private var plan = Plan()
    private var begun: [Session] = []
    private var loggedOut: [String] = []

    /// What is to come of sessions.
    struct Plan {
        /// The questions that are answered before the decision; nil for no decision.
        var asksBeforeDecision: Int? = 1
        /// The members of the answer from the decision on.
        var decision = #""state":"succeeded""#
        /// Those for a retake; nil for the same.
        var decisionOfRetake: String?
        /// Answers in place of the next uploads.
        var uploadRefusals: [HeliographError] = []
        /// Whether the answers to the next uploads are lost after they were handled.
        var uploadAnswersLost = 0
        var redeemFaults: [HeliographError] = []
        /// The code that the device needs; nil for a known device.
        var code: String?
        var askFaults: [HeliographError] = []
    }

    init(_ time: ManualTime) { self.time = time }

    var sessions: [Session] { lock.withLock { begun } }
    var loggedOutTokens: [String] { lock.withLock { loggedOut } }

    func plan(_ change: (inout Plan) -> Void) { lock.withLock { change(&plan) } }

    /// Hands out the tokens of the first session in an answer that is lost.
    func loseTokens() { lock.withLock { begun[0].redemptions += 1 } }

    static let lost = HeliographError(.unreachable, "The connection ended", isRetryable: true)

    static func refusal(
        _ status: Int, _ code: HeliographError.Code, field: String? = nil, retryAfter: Int? = nil
    ) -> HeliographError {
        let body = #"{"success":false,"message":"No","error":{"code":"\#(code.rawValue)"\#(field.map { #","field":"\#($0)""# } ?? "")}}"#
        var response = TransportResponse.json(body, status: status)
        if let retryAfter { response.headers["retry-after"] = "\(retryAfter)" }
        return HeliographError(response, requestID: "r", now: Date())
    }

    /// The refusal of a new device that has entered no code, or a wrong one.
    private static func refusal(of code: String?, _ id: UUID) -> HeliographError {
        let (status, error) =
            code == nil
            ? (403, #""code":"verification_required","verification_id":"\#(id.wireText)","reference":"KFTM""#)
            : (400, #""code":"invalid_code","field":"code","attempts_left":3"#)
        return HeliographError(
            .json(#"{"success":false,"message":"No","error":{\#(error)}}"#, status: status), requestID: "r", now: Date())
    }

    func answer(_ sent: ScriptedSender.Sent) throws(HeliographError) -> TransportResponse {
        let result: Result<TransportResponse, HeliographError> = lock.withLock {
            Result { () throws(HeliographError) in
                switch (sent.method, sent.path) {
                case ("POST", "/api/v1/ekyc/upload-photos"): try upload(sent, isSignIn: false)
                case ("POST", "/api/v1/ekyc/login"): try upload(sent, isSignIn: true)
                case ("POST", "/api/v1/auth/logout"): logOut(sent)
                case ("POST", _) where sent.path.hasSuffix("/token"): try redeem(sent)
                default: try status(sent)
                }
            }
        }
        return try result.get()
    }

    private func upload(_ sent: ScriptedSender.Sent, isSignIn: Bool) throws(HeliographError) -> TransportResponse {
        if !plan.uploadRefusals.isEmpty { throw plan.uploadRefusals.removeFirst() }
        let length = sent.body?.count ?? 0
        guard let key = sent.idempotencyKey, length > 0 else { throw Self.refusal(400, .invalidRequest) }
        let first = begun.first { $0.key == key && time.now.timeIntervalSince($0.createdAt) <= 600 }
        if let first, first.bodyLength != length { throw Self.refusal(422, .idempotencyKeyReused) }
        let session =
            first
            ?? Session(
                id: UUID(), token: "session-token-\(begun.count)-of-server", key: key, isSignIn: isSignIn, bodyLength: length,
                createdAt: time.now)
        if first == nil {
            let isRetake = try takeRetaken(sent)
            begun.append(session)
            begun[begun.count - 1].isRetake = isRetake
        }
        if plan.uploadAnswersLost > 0 {
            plan.uploadAnswersLost -= 1
            throw Self.lost
        }
        var response = TransportResponse.json(
            #"{"success":true,"code":0,"message":"Photos uploaded successfully","data":{"session_id":"\#(session.id.wireText)"}}"#)
        response.headers["X-Session-Token"] = session.token
        return response
    }

    /// Uses the photos of the failed session that a retake names; false for an upload of all photos.
    private func takeRetaken(_ sent: ScriptedSender.Sent) throws(HeliographError) -> Bool {
        let form = String(decoding: sent.body ?? Data(), as: UTF8.self)
        guard form.contains(#"name="retake_of""#) else { return false }
        let index = begun.firstIndex { form.contains(#"name="retake_of""# + "\r\n\r\n\($0.id.wireText)\r\n") }
        guard let index, begun[index].decidedAt != nil, !begun[index].isRetaken, sent.headers["X-Session-Token"] == begun[index].token
        else { throw Self.refusal(409, .retakeUnavailable, field: "retake_of") }
        begun[index].isRetaken = true
        return true
    }

    private func status(_ sent: ScriptedSender.Sent) throws(HeliographError) -> TransportResponse {
        if !plan.askFaults.isEmpty { throw plan.askFaults.removeFirst() }
        let index = try index(of: sent)
        begun[index].asks += 1
        if let asks = plan.asksBeforeDecision, begun[index].asks > asks { begun[index].decidedAt = begun[index].decidedAt ?? time.now }
        let decision = begun[index].isRetake ? plan.decisionOfRetake ?? plan.decision : plan.decision
        let members = begun[index].decidedAt == nil ? #""state":"processing""# : decision
        let times = #""created_at":"2027-01-15T08:00:00Z","expires_at":"2027-01-16T08:00:00Z""#
        return .json(
            #"{"success":true,"code":0,"message":"Session found","data":{"session_id":"\#(begun[index].id.wireText)","#
                + #""event":"sign_in",\#(members),\#(times)}}"#)
    }

    private func redeem(_ sent: ScriptedSender.Sent) throws(HeliographError) -> TransportResponse {
        if !plan.redeemFaults.isEmpty { throw plan.redeemFaults.removeFirst() }
        let index = try index(of: sent)
        if let code = plan.code, begun[index].redemptions == 0 {
            let entered = sent.body.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }?["code"]
            guard entered == code else { throw Self.refusal(of: entered, begun[index].id) }
        }
        guard begun[index].isSignIn, let decidedAt = begun[index].decidedAt, time.now.timeIntervalSince(decidedAt) <= 300 else {
            throw Self.refusal(403, .forbidden)
        }
        begun[index].redemptions += 1
        return .json(
            #"{"access_token":"access-\#(index)","refresh_token":"refresh-\#(index)","token_type":"Bearer","expires_in":3600,"#
                + #""user_id":"user-1"}"#)
    }

    private func logOut(_ sent: ScriptedSender.Sent) -> TransportResponse {
        loggedOut.append(sent.bearer)
        return .json(#"{"success":true,"code":0,"message":"Logged out","data":null}"#)
    }

    private func index(of sent: ScriptedSender.Sent) throws(HeliographError) -> Int {
        guard let index = begun.firstIndex(where: { sent.path.contains($0.id.wireText) }) else { throw Self.refusal(404, .sessionNotFound) }
        guard sent.bearer == #"token("\#(begun[index].token)")"# else { throw Self.refusal(401, .unauthorized) }
        guard time.now.timeIntervalSince(begun[index].createdAt) <= 86_400 else { throw Self.refusal(404, .sessionNotFound) }
        return index
    }
}
