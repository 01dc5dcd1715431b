import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import TestSupport
import Testing

@testable import IdentityAPI

extension IdentityFixture {
    /// Sends a request with a proof of a device's key.
    func send(
        _ method: String, _ path: String, by device: DeviceSigner, bearer: String? = nil, json: String? = nil,
        _ change: (inout DeviceSigner.Claims) -> Void = { _ in }
    ) async throws -> HTTPClientResponse {
        var claims = DeviceSigner.Claims(method, "https://api.example.org\(path)", token: bearer)
        change(&claims)
        let headers =
            [("DPoP", try device.proof(claims))] + (bearer.map { [("Authorization", "Bearer \($0)")] } ?? [])
            + (json == nil ? [] : [("Content-Type", "application/json")])
        return try await send(method, path, headers: headers, body: Array((json ?? "").utf8))
    }

    /// Refreshes tokens with a proof.
    func refresh(
        _ token: String, by device: DeviceSigner, _ change: (inout DeviceSigner.Claims) -> Void = { _ in }
    ) async throws -> HTTPClientResponse {
        try await send("POST", "/api/v1/auth/refresh", by: device, json: #"{"refresh_token":"\#(token)"}"#, change)
    }

    /// Refreshes tokens with a proof of a phone whose clock is wrong, with a nonce.
    func refreshLate(_ token: String, by device: DeviceSigner, nonce: String) async throws -> HTTPClientResponse {
        try await refresh(token, by: device) { claims in
            claims.issuedAt = Date(timeIntervalSince1970: 0)
            claims.nonce = nonce
        }
    }

    /// Uploads a sign-in with a proof, and has it succeed.
    func decidedSignIn(
        by device: DeviceSigner, email: String = "known@example.org", _ change: (inout DeviceSigner.Claims) -> Void = { _ in }
    ) async throws -> (id: UUID, token: String) {
        var claims = DeviceSigner.Claims("POST", "https://api.example.org\(Path.login)")
        change(&claims)
        let session = try await start(Path.login, .signIn(email: email), headers: [("DPoP", try device.proof(claims))])
        try await decide(session.id, .succeeded)
        return session
    }

    /// Signs up, and signs in with a proof.
    func signedInDevice(
        _ device: DeviceSigner, _ change: (inout DeviceSigner.Claims) -> Void = { _ in }
    ) async throws -> SignedInDevice {
        let signUp = try await start(Path.signUp, .signUp(email: "known@example.org"))
        try await decide(signUp.id, .succeeded)
        let session = try await decidedSignIn(by: device)
        return try signedIn(try await send("POST", Path.session(session.id) + "/token", by: device, bearer: session.token, change))
    }

    /// Reads the tokens of a redemption.
    func signedIn(_ answer: HTTPClientResponse) throws -> SignedInDevice {
        guard answer.status == 200, let userID = UUID(uuidString: answer.json.text("user_id") ?? "") else {
            throw UnexpectedAnswer(response: answer)
        }
        return SignedInDevice(
            userID: userID, accessToken: answer.json.text("access_token") ?? "", refreshToken: answer.json.text("refresh_token") ?? "")
    }

    /// Returns where the keys of the valid sign-ins are, as the list of devices shows it.
    func keysOfSignIns(_ token: String) async throws -> [String?] {
        let answer = try await send("GET", "/v1/users/me/sessions", headers: [("Authorization", "Bearer \(token)")])
        return (answer.json["data"]?["sessions"]?.elements ?? []).map { $0["device"]?["key"]?.string }
    }
}

@Suite struct DeviceKeyTests {
    @Test(.api) func `tokens of a sign-in with a key are refreshed with the key only, and nothing else ends them`() async throws {
        let (device, thief) = (try DeviceSigner(), try DeviceSigner())
        let signIn = try await api.signedInDevice(device)
        #expect(try await api.refresh(signIn.refreshToken).refusal == "401 device_key_required")
        #expect(try await api.refresh(signIn.refreshToken, by: thief).refusal == "401 invalid_dpop_proof jwk")
        #expect(try await api.isAccepted(signIn.accessToken), "the thief of a token does not end the sign-in")
        let renewed = try await api.refresh(signIn.refreshToken, by: device)
        #expect(renewed.status == 200)
        let next = try #require(renewed.json.text("refresh_token"))
        #expect(try await api.refresh(next).refusal == "401 device_key_required", "the key stays that of the sign-in")
        #expect(try await api.refresh(signIn.refreshToken, by: thief).refusal == "401 invalid_dpop_proof jwk", "nor with a used token")
        #expect(try await api.refresh(next, by: device).status == 200)
    }

    @Test(.api) func `a refresh that is repeated with the key gets the same tokens, and without it none`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let first = try await api.refresh(signIn.refreshToken, by: device)
        #expect(try await api.refresh(signIn.refreshToken, by: device).json.text("refresh_token") == first.json.text("refresh_token"))
        #expect(try await api.refresh(signIn.refreshToken).refusal == "401 device_key_required")
    }

    @Test(.api) func `the first proof binds a sign-in without a key to it`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice()
        let bound = try await api.refresh(signIn.refreshToken, by: device)
        #expect(bound.status == 200)
        #expect(try await api.refresh(signIn.refreshToken).refusal == "401 device_key_required", "the repetition, too")
        let next = try #require(bound.json.text("refresh_token"))
        #expect(try await api.refresh(next).refusal == "401 device_key_required")
        #expect(try await api.refresh(next, by: DeviceSigner()).refusal == "401 invalid_dpop_proof jwk")
        #expect(try await api.refresh(next, by: device).status == 200)
    }

    @Test(.api) func `a sign-in that was uploaded with a proof is redeemed with its key only`() async throws {
        let device = try DeviceSigner()
        let signUp = try await api.start(Path.signUp, .signUp(email: "known@example.org"))
        try await api.decide(signUp.id, .succeeded)
        let session = try await api.decidedSignIn(by: device)
        let path = Path.session(session.id) + "/token"
        #expect(try await api.redeem(session).refusal == "401 device_key_required")
        #expect(try await api.send("POST", path, by: DeviceSigner(), bearer: session.token).refusal == "401 invalid_dpop_proof jwk")
        #expect(try await api.count("access_tokens") == 0)
        let tokens = try await api.send("POST", path, by: device, bearer: session.token)
        #expect(tokens.status == 200)
        let again = try await api.send("POST", path, by: device, bearer: session.token)
        #expect(again.json.text("refresh_token") == tokens.json.text("refresh_token"), "a lost answer costs no sign-in")
        #expect(try await api.redeem(session).refusal == "401 device_key_required")
    }

    @Test(.api) func `a proof is used once`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let stored = try await api.count("used_device_proofs")
        let first = try await api.refresh(signIn.refreshToken, by: device) { $0.id = "once" }
        let next = try #require(first.json.text("refresh_token"))
        #expect(try await api.count("used_device_proofs") == stored + 1)
        #expect(try await api.refresh(next, by: device, { $0.id = "once" }).refusal == "401 invalid_dpop_proof jti")
        #expect(try await api.refresh(next, by: device).status == 200, "the refused request has not used the token")
    }

    @Test(.api) func `a refresh that is sent again byte for byte does nothing`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let first = try await api.refresh(signIn.refreshToken, by: device) { $0.id = "once" }
        let next = try #require(first.json.text("refresh_token"))
        #expect(try await api.refresh(next, by: device).status == 200)
        let replayed = try await api.refresh(signIn.refreshToken, by: device) { $0.id = "once" }
        #expect(replayed.refusal == "401 invalid_dpop_proof jti")
        let access = try #require(first.json.text("access_token"))
        #expect(try await !api.isAccepted(access), "it was refreshed since")
        #expect(try await api.count("access_tokens WHERE revoked_at IS NULL") == 1, "the sign-in goes on")
    }

    @Test(.api) func `of two requests at the same time with one proof one is taken`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let answers = try await race(4) { _ in try await api.refresh(signIn.refreshToken, by: device) { $0.id = "once" } }
        #expect(answers.count { $0.status == 200 } == 1)
        #expect(answers.count { $0.refusal == "401 invalid_dpop_proof jti" } == 3)
    }

    @Test(.api) func `a token from before the sign-in had a key does nothing without a proof`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice()
        let next = try #require(try await api.refresh(signIn.refreshToken, by: device).json.text("refresh_token"))
        try await api.postgres.execute("UPDATE access_tokens SET revoked_at = revoked_at - interval '31 seconds'")
        #expect(try await api.refresh(signIn.refreshToken).refusal == "401 device_key_required")
        #expect(try await api.refresh(next, by: device).status == 200)
    }

    @Test(.api) func `two keys that are proven with one token end the sign-in`() async throws {
        let signIn = try await api.signedInDevice()
        let answers = try await race(2) { _ in try await api.refresh(signIn.refreshToken, by: DeviceSigner()) }
        #expect(answers.count { $0.status == 200 } == 1)
        #expect(answers.count { $0.refusal == "401 unauthorized" } == 1)
        #expect(try await api.count("access_tokens WHERE revoked_at IS NULL") == 0)
    }

    @Test(.api) func `a proof that was used by one instance is refused by the others, which take its nonces`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let nonce = try #require(try await api.refresh(signIn.refreshToken).header("DPoP-Nonce"))
        let first = try await api.refresh(signIn.refreshToken, by: device) { $0.id = "once" }
        let next = try #require(first.json.text("refresh_token"))
        try await withSecondInstance(of: api) { _ in
        } _: { second in
            let again = try await second.refresh(next, by: device) { $0.id = "once" }
            #expect(again.refusal == "401 invalid_dpop_proof jti")
            #expect(try await second.refreshLate(next, by: device, nonce: nonce).status == 200)
        }
    }

    @Test(.api) func `a phone with a wrong clock gets a nonce, with which the next proof is taken`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let wrong = Date(timeIntervalSinceNow: 3_600)
        let refused = try await api.refresh(signIn.refreshToken, by: device) { $0.issuedAt = wrong }
        #expect(refused.refusal == "401 use_dpop_nonce iat")
        #expect(refused.header("WWW-Authenticate") == #"DPoP algs="ES256", error="use_dpop_nonce""#)
        let nonce = try #require(refused.header("DPoP-Nonce"))
        #expect(try await api.refreshLate(signIn.refreshToken, by: device, nonce: nonce).status == 200)
    }

    @Test(.api) func `a bad proof of a sign-in stores nothing, and counts against no account`() async throws {
        let device = try DeviceSigner()
        let signUp = try await api.start(Path.signUp, .signUp(email: "known@example.org"))
        try await api.decide(signUp.id, .succeeded)
        let (sessions, files) = (try await api.count("sessions"), api.storedFiles())
        let url = "https://api.example.org\(Path.login)"
        let foreign = DeviceNonces(sessionKey: [UInt8](repeating: 9, count: 32)).issue(at: Date())
        let changes: [(String, @Sendable (inout DeviceSigner.Claims) -> Void)] = [
            ("401 invalid_dpop_proof jti", { $0.id = nil }), ("401 invalid_dpop_proof alg", { $0.algorithm = "none" }),
            ("401 invalid_dpop_proof htu", { $0.url = "https://api.example.org/api/v1/auth/refresh" }),
            ("401 use_dpop_nonce iat", { $0.issuedAt += 3_600 }), ("401 use_dpop_nonce nonce", { $0.nonce = foreign }),
        ]
        for (refusal, change) in changes {
            var claims = DeviceSigner.Claims("POST", url)
            change(&claims)
            let answer = try await api.send(.signIn(), to: Path.login, headers: [("DPoP", try device.proof(claims))])
            #expect(answer.refusal == refusal)
        }
        let proof = try device.proof(DeviceSigner.Claims("POST", url))
        let twice = try await api.send(.signIn(), to: Path.login, headers: [("DPoP", proof), ("DPoP", proof)])
        #expect(twice.refusal == "401 invalid_dpop_proof")
        #expect(try await api.count("sessions") == sessions)
        #expect(try await api.count("used_device_proofs") == 0)
        #expect(api.storedFiles() == files)
        let signIn = try await api.decidedSignIn(by: device)
        let repeated = try device.proof(DeviceSigner.Claims("POST", url))
        for (index, refusal) in [String?.none, "401 invalid_dpop_proof jti"].enumerated() {
            let answer = try await api.send(.signIn(), to: Path.login, headers: [("DPoP", repeated)])
            #expect(answer.refusal == refusal || (index == 0 && answer.status == 200), "the same proof for two sign-ins")
        }
        #expect(try await api.send("POST", Path.session(signIn.id) + "/token", by: device, bearer: signIn.token).status == 200)
    }

    @Test(.api) func `the requests that need a recent sign-in need a proof of its key and of the token`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let token = signIn.accessToken
        let bearer = [(name: "Authorization", value: "Bearer \(token)")]
        for (method, path) in [
            ("GET", "/v1/users/me/export"), ("PUT", "/v1/users/me/email"), ("DELETE", "/v1/users/me/face"), ("DELETE", "/v1/users/me"),
        ] {
            let body = #"{"email":"other@example.org"}"#
            let (json, headers) = method == "PUT" ? (body, bearer + [("Content-Type", "application/json")]) : (nil, bearer)
            let stolen = try await api.send(method, path, headers: headers, body: Array((json ?? "").utf8))
            #expect(stolen.refusal == "401 device_key_required")
            #expect(try await api.send(method, path, by: DeviceSigner(), bearer: token, json: json).refusal == "401 invalid_dpop_proof jwk")
            let unbound = try await api.send(method, path, by: device, bearer: token, json: json) { $0.token = nil }
            #expect(unbound.refusal == "401 invalid_dpop_proof ath")
            let own = try await api.send(method, path, by: device, bearer: token, json: json) { $0.id = "\(method) \(path)" }
            #expect((200..<300).contains(own.status), "\(method) \(path): \(own.status) \(own.text)")
            guard method != "DELETE" else { continue }
            let again = try await api.send(method, path, by: device, bearer: token, json: json) { $0.id = "\(method) \(path)" }
            #expect(again.refusal == "401 invalid_dpop_proof jti")
        }
    }

    @Test(.api) func `a face is enrolled by a bearer with the key of the sign-in only`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        let bearer = ("Authorization", "Bearer \(signIn.accessToken)")
        #expect(try await api.send(.signUp(), to: Path.signUp, headers: [bearer]).refusal == "401 device_key_required")
        let url = "https://api.example.org\(Path.signUp)"
        let proof = try device.proof(DeviceSigner.Claims("POST", url, token: signIn.accessToken))
        #expect(try await api.send(.signUp(), to: Path.signUp, headers: [bearer, ("DPoP", proof)]).status == 200)
    }

    @Test(.api) func `the list of devices shows where the key of each is`() async throws {
        let plain = try await api.signedInDevice()
        let device = try DeviceSigner()
        let session = try await api.decidedSignIn(by: device)
        let answer = try await api.send("POST", Path.session(session.id) + "/token", by: device, bearer: session.token) {
            $0.storage = "hardware"
        }
        #expect(answer.status == 200)
        // Both sign-ins are on one installation, so the second has ended the first.
        #expect(try await !api.isAccepted(plain.accessToken))
        #expect(try await api.keysOfSignIns(try #require(answer.json.text("access_token"))) == ["hardware"])
        let other = try await api.signIn(pushToken: "c2bbbbbbbbbbbbbbbbbbbb:APA91bExampleToken")
        #expect(try await api.keysOfSignIns(other.accessToken) == [nil, "hardware"])
    }

    @Test(.api) func `a device that is known by its key is no news to the others`() async throws {
        let device = try DeviceSigner()
        _ = try await api.signedInDevice(device)
        _ = try await api.signIn(pushToken: IdentityFixture.secondPhone)
        let pushes = try await api.pushes().count
        let again = try await api.decidedSignIn(by: device)
        #expect(try await api.send("POST", Path.session(again.id) + "/token", by: device, bearer: again.token).status == 200)
        #expect(try await api.pushes().count == pushes)
        let stranger = try DeviceSigner()
        let other = try await api.decidedSignIn(by: stranger)
        #expect(try await api.send("POST", Path.session(other.id) + "/token", by: stranger, bearer: other.token).status == 200)
        #expect(try await api.pushes().count == pushes + 1)
    }

    @Test(.api) func `a token with another key is recorded once an hour`() async throws {
        let device = try DeviceSigner()
        let signIn = try await api.signedInDevice(device)
        func records() async throws -> Int {
            try await api.audit(signIn.userID).count { $0.action == AuditAction.deviceKeyRefused.rawValue }
        }
        _ = try await api.refresh(signIn.refreshToken)
        #expect(try await records() == 0, "without a proof")
        for _ in 0..<3 { _ = try await api.refresh(signIn.refreshToken, by: DeviceSigner()) }
        #expect(try await records() == 1)
        let next = try #require(try await api.refresh(signIn.refreshToken, by: device).json.text("access_token"))
        _ = try await api.send("DELETE", "/v1/users/me", by: DeviceSigner(), bearer: next)
        #expect(try await records() == 1)
        try await api.postgres.execute("UPDATE access_tokens SET other_key_at = now() - interval '61 minutes'")
        _ = try await api.send("DELETE", "/v1/users/me", by: DeviceSigner(), bearer: next)
        #expect(try await records() == 2)
    }

    @Test(.api) func `a repeated sign-in gets its first answer with another proof of the key, and another key makes another request`()
        async throws
    {
        let (device, url) = (try DeviceSigner(), "https://api.example.org\(Path.login)")
        func upload(_ device: DeviceSigner) async throws -> HTTPClientResponse {
            let proof = try device.proof(DeviceSigner.Claims("POST", url))
            return try await api.send(.signIn(), to: Path.login, headers: [("DPoP", proof), ("Idempotency-Key", "upload-1")])
        }
        let (first, again) = (try await upload(device), try await upload(device))
        #expect(again.header("Idempotent-Replayed") == "true")
        #expect(again.header("X-Session-Token") == first.header("X-Session-Token"))
        #expect(try await upload(DeviceSigner()).refusal == "422 idempotency_key_reused")
    }

    @Test(.api) func `a refused request of a recent sign-in leaves its proof unused`() async throws {
        let device = try DeviceSigner()
        let token = try await api.signedInDevice(device).accessToken
        let stored = try await api.count("used_device_proofs")
        let bad = try await api.send("PUT", "/v1/users/me/email", by: device, bearer: token, json: #"{"email":"none"}"#)
        #expect(bad.refusal == "400 invalid_email email")
        #expect(try await api.count("used_device_proofs") == stored)
    }

    @Test(.api { $0.deviceKeys.policy = .required }) func `where keys are required, nothing signs in without one`() async throws {
        let signUp = try await api.start(Path.signUp, .signUp(email: "known@example.org"))
        try await api.decide(signUp.id, .succeeded)
        #expect(try await api.send(.signIn(), to: Path.login).refusal == "401 device_key_required")
        #expect(try await api.refresh("unknown").refusal == "401 device_key_required")
        let device = try DeviceSigner()
        let session = try await api.decidedSignIn(by: device)
        #expect(try await api.redeem(session).refusal == "401 device_key_required")
        let tokens = try await api.send("POST", Path.session(session.id) + "/token", by: device, bearer: session.token)
        let access = try #require(tokens.json.text("access_token"))
        #expect(try await api.send("DELETE", "/v1/users/me/face", by: device, bearer: access).status == 202)
        try await api.postgres.execute("UPDATE access_tokens SET device_key = NULL, device_key_storage = NULL")
        let unbound = try await api.send("DELETE", "/v1/users/me", by: device, bearer: access)
        #expect(unbound.refusal == "401 device_key_required", "a sign-in from before")
    }
}
