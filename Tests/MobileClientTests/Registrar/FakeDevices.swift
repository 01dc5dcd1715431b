import Foundation

@testable import MobileClient

/// The routes about devices, over a ``RegistrarServer``.
actor FakeDevices {
    private struct Body: Decodable {
        var device_token: String?
        var handover_id: String?
        var nonce: String?
    }

    private(set) var server = RegistrarServer(holder: nil, users: [:])
    /// The requests, as `POST /v1/users/device-token {…}`.
    private(set) var requests: [String] = []
    /// The claims whose nonces are on their way.
    private(set) var nonces: [String] = []
    /// What the next requests fail with.
    private var faults: [HeliographError] = []
    /// The sign-in whose logout always fails.
    private var poison: String?
    private var isHeld = false
    private var held: [CheckedContinuation<Void, Never>] = []

    func begin(_ signIn: String, user: String) { server.begin(signIn, user: user) }

    func take(_ token: String, _ signIn: String) { _ = server.register(token, for: signIn) }

    func fail(_ errors: HeliographError...) { faults += errors }

    func failLogOuts(of signIn: String) { poison = signIn }

    /// Makes requests and logouts wait until they are released.
    func hold() { isHeld = true }

    func release() {
        isHeld = false
        held.forEach { $0.resume() }
        held = []
    }

    var heldRequests: Int { held.count }

    func serve(_ sent: ScriptedSender.Sent, by signIn: String?) async throws(HeliographError) -> TransportResponse {
        requests.append("\(sent.method) \(sent.path)" + (sent.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""))
        try await pass()
        guard let signIn, server.isAlive(signIn) else { throw HeliographError(.unauthorized, "the sign-in has ended", status: 401) }
        let body = sent.body.flatMap { try? JSONDecoder().decode(Body.self, from: $0) }
        switch (sent.method, sent.path) {
        case ("POST", "/v1/users/device-token"):
            let token = body?.device_token ?? ""
            if server.register(token, for: signIn) { break }
            let (nonce, _) = server.claim(token, for: signIn, isOnItsWay: { nonces.contains($0.handOverID) })
            nonces.append(nonce.handOverID)
            return .json(
                #"{"success":true,"data":{"status":"pending","handover_id":"\#(nonce.handOverID)","expires_in":600}}"#, status: 202)
        case ("POST", "/v1/users/device-token/confirm"):
            let nonce = TokenRegistrarReducer.Nonce(handOverID: body?.handover_id ?? "", nonce: body?.nonce ?? "")
            guard server.confirm(nonce, by: signIn) else { throw HeliographError(.notFound, "there is no such claim", status: 404) }
        case ("DELETE", "/v1/users/device-token"):
            server.remove(by: signIn)
            return TransportResponse(status: 204)
        default: throw HeliographError(.notFound, "there is no such route", status: 404)
        }
        return .json(#"{"success":true,"data":{"installation_id":"2b1e…","kind":"token"}}"#)
    }

    func logOut(_ signIn: String) async throws(HeliographError) {
        try await pass()
        if signIn == poison { throw HeliographError(.internal, "a fault of the API", status: 500) }
        guard server.isAlive(signIn) else { throw HeliographError(.unauthorized, "the sign-in has ended", status: 401) }
        server.logOut(signIn)
    }

    private func pass() async throws(HeliographError) {
        if isHeld { await withCheckedContinuation { held.append($0) } }
        if !faults.isEmpty { throw faults.removeFirst() }
    }
}
