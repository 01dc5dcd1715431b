internal import Foundation

/// Keeps the key of this device and the last nonce of the API, and makes the proofs of requests.
actor DeviceProofs {
    /// The time for which a nonce is used; the API takes it for five minutes. A proof without one is taken if the clock is right.
    private static let nonceTime: TimeInterval = 4 * 60

    private let maker: any DeviceKeyMaker
    private let store: any CredentialStore
    private let time: TimeSource
    private var key: (any DeviceSigningKey)?
    private var nonce: (text: String, receivedAt: Date)?

    /// - Parameters:
    ///   - maker: The cryptography of the device.
    ///   - store: Keeps the archive of the key.
    ///   - time: The time of the proofs.
    init(_ maker: any DeviceKeyMaker, keeping store: any CredentialStore, time: TimeSource) {
        (self.maker, self.store, self.time) = (maker, store, time)
    }

    /// Makes a proof for a request, after the key, if there is none.
    ///
    /// - Throws: `storage` if the key cannot be kept or used now, as before the first unlock of the device.
    func proof(for request: TransportRequest, bearer: String?, _ use: DPoPProof.Use) async throws(HeliographError) -> String {
        let proof = DPoPProof(
            method: request.method, url: request.url, tokenHash: bearer.map { maker.sha256(Data($0.utf8)) }, issuedAt: time.now(),
            nonce: currentNonce)
        let replaces = use == .ofUsableKey
        do {
            let key = try await key(replacing: nil, evenUsable: replaces)
            do { return try proof.text(signedBy: key) } catch  where replaces || error is DeviceKeyLoss {
                return try proof.text(signedBy: try await self.key(replacing: key.archive, evenUsable: replaces))
            }
        } catch {
            let error = error as NSError
            throw HeliographError(
                .storage, "The key of the device cannot be used: \(error.domain) \(error.code)", isRetryable: true)
        }
    }

    /// Keeps the nonce of an answer, if it has one, for the next proofs.
    ///
    /// - Returns: Whether it has one.
    @discardableResult
    func note(_ answer: TransportResponse) -> Bool {
        guard let text = answer.headers["DPoP-Nonce"], (1...512).contains(text.utf8.count), HeaderRules.isValue(text) else { return false }
        nonce = (text, time.now())
        return true
    }

    /// The nonce of the next proof. A clock that was set back makes it no younger.
    private var currentNonce: String? {
        nonce.flatMap { abs(time.now().timeIntervalSince($0.receivedAt)) < Self.nonceTime ? $0.text : nil }
    }

    /// The key of this device. A key is kept before it is used, because a sign-in is lost with its key.
    ///
    /// - Parameters:
    ///   - broken: The archive of a key that does not sign; another process may have replaced it.
    ///   - evenUsable: Whether a key that may be usable later is replaced, too.
    private func key(replacing broken: Data?, evenUsable: Bool) async throws -> any DeviceSigningKey {
        if let key, key.archive != broken, await !isReplaced(key) { return key }
        let maker = maker
        let key = try await store.update { archive -> any DeviceSigningKey in
            if let archive, archive != broken {
                do { return try maker.key(from: archive) } catch  where evenUsable || error is DeviceKeyLoss {}
            }
            let key = try maker.makeKey()
            archive = key.archive
            return key
        }
        self.key = key
        return key
    }

    /// Whether another process has kept another key in place of this one. A store that cannot be read now says nothing about it.
    private func isReplaced(_ key: any DeviceSigningKey) async -> Bool {
        guard let kept = try? await store.read() else { return false }
        return kept != key.archive
    }
}
