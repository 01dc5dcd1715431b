internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Metrics
internal import PostgresClient

/// Takes the proofs of device keys that requests carry in `DPoP`, and holds sign-ins to their keys.
struct DeviceKeyGate: Sendable {
    /// The errors of a request that may carry a proof.
    static let errors: Set<ErrorCode> = [.useDPoPNonce, .invalidDPoPProof, .deviceKeyRequired]

    let postgres: PostgresClient
    let keys: AccountKeys
    let verifier: DeviceProofVerifier
    /// Whether sign-ins without a key are refused (`DEVICE_KEYS=required`).
    let isRequired: Bool

    /// Returns the proof that a request carries; nil without one.
    ///
    /// - Throws: `use_dpop_nonce`, `invalid_dpop_proof`; `device_key_required` without a proof where keys are required.
    func proof(of request: Request, _ context: APIRequestContext) throws(APIError) -> DeviceProof? {
        let texts = request.headers[values: .dpop]
        guard let text = texts.first else {
            guard !isRequired else { throw missing("Sign in with a proof of the device's key (DPoP)") }
            return nil
        }
        let subject = DeviceProofVerifier.Subject(
            method: request.method.rawValue, path: request.uri.path, token: try? request.headers.bearer())
        do throws(DeviceProofFault) {
            guard texts.count == 1 else { throw .malformed }
            let proof = try verifier.verify(text, of: subject, now: context.arrivedAt)
            Self.count("accepted")
            return proof
        } catch {
            throw refusal(error)
        }
    }

    /// Refuses a proof that is not of the key of a sign-in or session, which may have none.
    func check(_ proof: DeviceProof?, against key: [UInt8]?) throws(APIError) {
        guard let key, proof?.key.thumbprint != key else { return }
        throw refusal(ofKey: proof)
    }

    /// The error of a request without a proof of the sign-in's key: with one of another key, or without any.
    func refusal(ofKey proof: DeviceProof?) -> APIError {
        proof == nil ? missing("The sign-in has a device key: send a proof of it (DPoP)") : refusal(.otherKey)
    }

    /// Uses a proof up, if there is one. Call in the transaction of the request's effect, before installations are locked.
    ///
    /// - Throws: `invalid_dpop_proof` for one that was used before.
    static func use(_ proof: DeviceProof?, in db: some PostgresQueryable) async throws {
        guard let proof, try await !UsedDeviceProofRepository(db).use(id: proof.id, expiresAt: proof.forgottenAt) else { return }
        count(DeviceProofFault.used.rawValue)
        throw error(.invalidDPoPProof, DeviceProofFault.used)
    }

    /// Requires of a request that needs a recent sign-in a proof of the sign-in's key: a stolen access token does not do. The handler uses
    /// the proof up, in the transaction of the effect.
    ///
    /// An identity provider's sign-in has no key.
    ///
    /// - Parameter needsKey: Whether a sign-in without a key is refused, too.
    /// - Returns: The sender with the proof.
    func confirm(
        _ identity: Identity, _ request: Request, _ context: APIRequestContext, needsKey: Bool = false
    ) async throws -> Identity {
        guard let signInID = identity.signInID else {
            guard !needsKey else { throw noKey }
            return identity
        }
        var identity = identity
        identity.proof = try proof(of: request, context)
        do { try check(identity.proof, against: identity.deviceKey) } catch {
            if identity.proof != nil { try await note(signInID, of: identity.userID, context) }
            throw error
        }
        guard identity.deviceKey != nil || !(isRequired || needsKey) else { throw noKey }
        return identity
    }

    /// Records that a token of a sign-in came with another key, at most once an hour.
    private func note(_ signInID: UUID, of userID: UUID, _ context: APIRequestContext) async throws {
        context.logger.warning("an access token came with another key than its sign-in's")
        try await postgres.withTransaction { transaction in
            guard try await AccessTokenRepository(transaction).noteOtherKey(ofFamily: signInID) else { return }
            try await AuditRepository(transaction).append(
                keys.auditEntry(.deviceKeyRefused, .refused, by: .anonymous, on: userID, object: signInID, context))
        }
    }

    /// The error of a refused proof. One that needs another nonce says which.
    func refusal(_ fault: DeviceProofFault) -> APIError {
        Self.count(fault.rawValue)
        switch fault {
        case .time, .nonce: return Self.error(.useDPoPNonce, fault, nonce: verifier.nonces.issue(at: Date()))
        default: return Self.error(.invalidDPoPProof, fault)
        }
    }

    private var noKey: APIError { missing("The sign-in has no device key: sign in with one") }

    private func missing(_ message: String) -> APIError {
        Self.count("missing")
        return Self.error(.deviceKeyRequired, message, nonce: verifier.nonces.issue(at: Date()))
    }

    private static func error(_ code: ErrorCode, _ fault: DeviceProofFault, nonce: String? = nil) -> APIError {
        error(code, fault.message, field: fault.field, nonce: nonce)
    }

    private static func error(_ code: ErrorCode, _ message: String, field: String? = nil, nonce: String?) -> APIError {
        var error = APIError(code, message, field: field)
        error.headers[.wwwAuthenticate] = #"DPoP algs="ES256", error="\#(code.rawValue)""#
        error.headers[.dpopNonce] = nonce
        return error
    }

    private static func count(_ result: String) { Counter(label: "device_proofs_total", dimensions: [("result", result)]).increment() }
}

/// A sender whose request may carry a proof of a device's key.
struct KeyedSender<Value: Sendable>: Sendable {
    let value: Value
    let proof: DeviceProof?
}

extension RequestSender {
    /// A sender whose request may carry a proof of a device's key; see ``DeviceKeyGate/proof(of:_:)``. The handler uses it up.
    static func withDeviceKey<Inner>(_ sender: RequestSender<Inner>) -> RequestSender where Value == KeyedSender<Inner> {
        RequestSender(
            bearers: sender.bearers, parameters: sender.parameters + [.deviceProof], errors: sender.errors.union(DeviceKeyGate.errors)
        ) { request, context, routes in
            let value = try await sender.identify(request, context, routes)
            return KeyedSender(value: value, proof: try routes.deviceKeys.proof(of: request, context))
        }
    }
}
