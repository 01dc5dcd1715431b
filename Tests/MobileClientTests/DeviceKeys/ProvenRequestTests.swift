import Foundation
import Testing

@testable import MobileClient

/// Requests that carry proofs of the device's key.
@Suite(.timeLimit(.minutes(1))) struct ProvenRequestTests {
    private func fixture(_ answers: [Result<TransportResponse, TransportError>]) throws -> ClientFixture {
        try ClientFixture(ScriptedTransport(answers), keys: FakeHardware())
    }

    private func proofs(_ fixture: ClientFixture) -> [SentProof?] {
        fixture.transport.sent.map { $0.headers["DPoP"].flatMap(SentProof.init) }
    }

    private static func request(_ method: String = "POST", key: UUID? = nil) -> APIRequest<String> {
        var request = ClientFixture.account(method, key: key)
        request.proof = .ofKey
        return request
    }

    private static func nonce(_ text: String) -> Result<TransportResponse, TransportError> {
        .success(.failure(401, "use_dpop_nonce", headers: ["DPoP-Nonce": text]))
    }

    @Test func `the sign-in, its tokens, and the requests of a recent sign-in carry proofs, and no others`() throws {
        let (id, file) = (UUID(), URL(fileURLWithPath: "/x"))
        func upload(_ kind: EKYCSession.Kind, _ bearer: APIRequest<EKYCRequests.Started>.Bearer) -> DPoPProof.Use {
            EKYCRequests.upload(kind, file, boundary: "b", bearer: bearer, key: id).proof
        }
        #expect(upload(.signIn, .none) == .ofUsableKey && upload(.signIn, .token("t")) == .ofUsableKey)
        #expect(upload(.signUp, .account) == .ofKey && upload(.signUp, .token("t")) == .none && upload(.signUp, .none) == .none)
        #expect(EKYCRequests.redeem(id, token: "t").proof == .ofKey && EKYCRequests.redeem(id, token: "t", code: "1").proof == .ofKey)
        #expect(AccountRequests.changeEmail(to: "a@example.org").proof == .ofKey && AccountRequests.export().proof == .ofKey)
        #expect(AccountRequests.eraseAccount().proof == .ofKey && AccountRequests.eraseFace().proof == .ofKey)
        #expect(ConfirmationRequests.confirm(id, reference: "KFTM").proof == .ofKey && ConfirmationRequests.deny(id).proof == .ofKey)
        #expect(ConfirmationRequests.list().proof == .none && !ConfirmationRequests.confirm(id, reference: "KFTM").isRepeatable)
        #expect(AuthRequests.logOut().proof == .none && AccountRequests.signIns().proof == .none)
        #expect(EKYCRequests.status(id, token: "t", wait: 0).proof == .none)
    }

    @Test func `each attempt has a proof of its own, of the token that it carries`() async throws {
        let fixture = try fixture([
            .failure(TransportError(.connectionLost, "")), .success(.failure(401, "unauthorized")), .success(.tokens(2)),
            .success(.json("{}")),
        ])
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(20)
        _ = try await fixture.client.send(Self.request(key: UUID()))
        let proofs = proofs(fixture).compactMap(\.self)
        #expect(proofs.count == 4 && Set(proofs.map { $0.text("jti") }).count == 4)
        let hashes = ["A1", "A2"].map { DPoPProof.base64URL(FakeHardware().sha256(Data($0.utf8))) }
        #expect(proofs.map { $0.text("ath") } == [hashes[0], hashes[0], nil, hashes[1]])
        #expect(proofs[2].text("htu") == "https://api.example.com/base/api/v1/auth/refresh")
    }

    @Test func `a request without need of a proof has none`() async throws {
        let fixture = try fixture([.success(.json("{}"))])
        try await fixture.client.credentials.signIn(.pair(1))
        _ = try await fixture.client.send(ClientFixture.account())
        #expect(fixture.transport.sent[0].headers["DPoP"] == nil)
    }

    @Test func `a proof that needs a nonce is sent again with it, also by a request that is not repeated`() async throws {
        let fixture = try fixture([Self.nonce("n1"), .success(.json("{}"))])
        try await fixture.client.credentials.signIn(.pair(1))
        _ = try await fixture.client.send(Self.request())
        #expect(proofs(fixture).map { $0?.text("nonce") } == [nil, "n1"])
        #expect(fixture.time.sleeps.isEmpty, "at once")
    }

    @Test func `a nonce that ended while the request waited is replaced`() async throws {
        let fixture = try fixture([Self.nonce("n1"), .failure(TransportError(.timedOut, "")), Self.nonce("n2"), .success(.json("{}"))])
        try await fixture.client.credentials.signIn(.pair(1))
        _ = try await fixture.client.send(Self.request(key: UUID()))
        #expect(proofs(fixture).map { $0?.text("nonce") } == [nil, "n1", "n1", "n2"])
    }

    @Test func `an API that asks for one nonce after the other is an error`() async throws {
        let fixture = try fixture([Self.nonce("n1"), Self.nonce("n2"), Self.nonce("n3")])
        try await fixture.client.credentials.signIn(.pair(1))
        let error = await #expect(throws: HeliographError.self) { _ = try await fixture.client.send(Self.request()) }
        #expect(error?.code == .useDPoPNonce && fixture.transport.sent.count == 2)
    }

    @Test(arguments: ["invalid_dpop_proof", "device_key_required"])
    func `a refused proof is no refusal of the token, which is not renewed`(code: String) async throws {
        let fixture = try fixture([.success(.failure(401, code))])
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(20)
        let error = await #expect(throws: HeliographError.self) { _ = try await fixture.client.send(Self.request()) }
        #expect(error?.code.rawValue == code && fixture.transport.sent.count == 1)
        #expect(try await fixture.client.credentials.session() != nil)
    }

    @Test func `tokens are renewed with the nonce that the API gives`() async throws {
        let fixture = try fixture([Self.nonce("n1"), .success(.tokens(2)), .success(.json("{}"))])
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(3_600)
        _ = try await fixture.client.send(ClientFixture.account())
        #expect(proofs(fixture).map { $0?.text("nonce") } == [nil, "n1", nil])
        #expect(fixture.transport.sent.last?.headers["authorization"] == "Bearer A2")
    }

    @Test func `both requests of a renewal end within its time`() async throws {
        let (time, sent) = (JumpingTime(), Locked<[Duration]>([]))
        let transport = ScriptedTransport { request throws(TransportError) in
            sent.withLock { $0.append(request.timeout) }
            time.pass(4)
            return .failure(401, "use_dpop_nonce", headers: ["DPoP-Nonce": "n"])
        }
        let folder = try TemporaryFolder.inMemory()
        let configuration = try ClientConfiguration(
            baseURL: try #require(URL(string: "https://api.example.org")), appVersion: "1", locale: "en", folder: folder.url)
        let proofs = DeviceProofs(FakeHardware(), keeping: FileCredentialStore(file: folder.url.appending(path: "k")), time: time.source)
        let exchange = TokenExchange(
            builder: RequestBuilder(configuration: configuration), transport: transport, time: time.source, proofs: proofs)
        guard case .failed(let error) = await exchange.renew("R1", timeout: .seconds(10)) else {
            Issue.record("the refresh ends")
            return
        }
        #expect(error.code == .useDPoPNonce && sent.withLock { $0 } == [.seconds(10), .seconds(6)])
    }

    @Test(arguments: [("jwk", true), ("htu", false), ("jti", false)])
    func `a refresh with another key than the sign-in's ends it, and no other fault of a proof does`(
        field: String, isLost: Bool
    ) async throws {
        let fixture = try fixture([.success(.failure(401, "invalid_dpop_proof", field: field))])
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(3_600)
        let error = await #expect(throws: HeliographError.self) { _ = try await fixture.client.send(ClientFixture.account()) }
        #expect(error?.code == (isLost ? .signedOut : .invalidDPoPProof))
        #expect(try await (fixture.client.credentials.session() == nil) == isLost)
    }
}
