import Foundation
import Testing

@testable import MobileClient

/// The key of a device from process to process, and the nonces of its proofs.
@Suite(.timeLimit(.minutes(1))) struct DeviceProofsTests {
    private let folder: TemporaryFolder
    private let time = JumpingTime()
    private let hardware = FakeHardware()

    init() throws { folder = try .inMemory() }

    /// The keys of a phone before its first unlock: there, and of no use now.
    private struct LockedHardware: DeviceKeyMaker {
        struct Locked: Error {}

        let base: FakeHardware

        func makeKey() throws -> any DeviceSigningKey { try base.makeKey() }
        func key(from archive: Data) throws -> any DeviceSigningKey { throw Locked() }
        func sha256(_ data: Data) -> Data { base.sha256(data) }
    }

    private func process(_ maker: (any DeviceKeyMaker)? = nil) -> DeviceProofs {
        DeviceProofs(maker ?? hardware, keeping: FileCredentialStore(file: folder.url.appending(path: "device-key")), time: time.source)
    }

    private func proof(_ proofs: DeviceProofs, _ use: DPoPProof.Use = .ofKey) async throws -> SentProof {
        let request = TransportRequest("POST", try #require(URL(string: "https://api.example.org/base/v1/x?wait=1")))
        return try #require(SentProof(try await proofs.proof(for: request, bearer: nil, use)))
    }

    @Test func `a proof names the request without its query, the time, and where the key is`() async throws {
        let proof = try await proof(process())
        #expect(proof.header["typ"] as? String == "dpop+jwt" && proof.header["alg"] as? String == "ES256")
        #expect(proof.text("htm") == "POST" && proof.text("htu") == "https://api.example.org/base/v1/x")
        #expect(proof.claims["iat"] as? Int == 1_800_000_000 && proof.text("key_storage") == "hardware")
        #expect(proof.text("ath") == nil && proof.text("nonce") == nil && proof.signature.count == 64)
    }

    @Test func `all processes of a device have one key, and each proof an id of its own`() async throws {
        let (first, second) = (process(), process())
        async let one = proof(first)
        async let two = proof(second, .ofUsableKey)
        let proofs = try await [one, two, proof(first), proof(process())]
        #expect(Set(proofs.map(\.publicKey)).count == 1 && hardware.count == 1)
        #expect(Set(proofs.map { $0.text("jti") }).count == 4)
    }

    @Test func `a lost key is replaced, once for all processes`() async throws {
        let first = process()
        let former = try await proof(first).publicKey
        hardware.loseKeys()
        let keys = try await [proof(process()), proof(process(), .ofUsableKey)].map(\.publicKey)
        #expect(Set(keys).count == 1 && keys[0] != former && hardware.count == 1)
    }

    @Test func `a key that cannot be used now is an error, and stays`() async throws {
        let former = try await proof(process()).publicKey
        let locked = process(LockedHardware(base: hardware))
        let error = await #expect(throws: HeliographError.self) { _ = try await self.proof(locked) }
        #expect(error?.code == .storage && error?.isRetryable == true)
        #expect(try await proof(process()).publicKey == former && hardware.count == 1)
    }

    @Test func `a sign-in replaces a key that cannot be used`() async throws {
        let former = try await proof(process()).publicKey
        let locked = process(LockedHardware(base: hardware))
        let other = try await proof(locked, .ofUsableKey).publicKey
        #expect(other != former)
        #expect(try await proof(locked).publicKey == other)
    }

    @Test func `a process takes the key by which another one has replaced its own`() async throws {
        let (first, second) = (process(), process())
        let former = try await proof(first).publicKey
        hardware.loseKeys()
        let other = try await proof(second, .ofUsableKey).publicKey
        #expect(other != former)
        #expect(try await proof(first).publicKey == other)
    }

    @Test func `a nonce is in the proofs of four minutes, whichever way the clock goes`() async throws {
        let proofs = process()
        #expect(await proofs.note(TransportResponse(status: 401, headers: ["DPoP-Nonce": "n1"])))
        for (seconds, nonce) in [(0.0, "n1"), (239, "n1"), (2, nil), (-500, nil)] {
            time.pass(seconds)
            #expect(try await proof(proofs).text("nonce") == nonce)
        }
        for text in ["", String(repeating: "n", count: 513), "a\nb"] {
            #expect(await !proofs.note(TransportResponse(status: 200, headers: ["DPoP-Nonce": text])))
        }
    }
}
