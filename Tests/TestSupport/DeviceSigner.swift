public import Foundation
public import HeliographCrypto

/// Makes proofs of a device's key (DPoP, RFC 9449) as an app does, and wrong ones.
public struct DeviceSigner: Sendable {
    /// The members of a proof, each of which a test may change.
    public struct Claims: Sendable {
        /// The `typ` of the header.
        public var type = "dpop+jwt"
        /// The `alg` of the header.
        public var algorithm = "ES256"
        /// Members of the header beyond the usual ones, as JSON.
        public var header: [String: String] = [:]
        /// The `jti`; nil for a proof without one.
        public var id: String? = UUID().uuidString
        /// The `htm`.
        public var method: String
        /// The `htu`.
        public var url: String
        /// The `iat`.
        public var issuedAt = Date()
        /// The `nonce`.
        public var nonce: String?
        /// The bearer token that `ath` is the hash of.
        public var token: String?
        /// The `key_storage`.
        public var storage: String?

        /// The claims of a proof for a request.
        public init(_ method: String, _ url: String, token: String? = nil, nonce: String? = nil) {
            self.method = method
            self.url = url
            self.token = token
            self.nonce = nonce
        }
    }

    /// The private key.
    public let key: P256PrivateKey

    /// Makes a device with a key of its own.
    public init() throws { key = try P256PrivateKey() }

    /// The public key as a JSON Web Key.
    public var jwk: String {
        #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(key.coordinates.x))","y":"\#(Base64URL.encode(key.coordinates.y))"}"#
    }

    /// Returns a proof.
    ///
    /// - Parameter signer: The key that signs it, if that is another one than the header names.
    public func proof(_ claims: Claims, signedBy signer: P256PrivateKey? = nil) throws -> String {
        let extra = claims.header.sorted { $0.key < $1.key }.map { #","\#($0.key)":\#($0.value)"# }.joined()
        let header = #"{"typ":"\#(claims.type)","alg":"\#(claims.algorithm)","jwk":\#(jwk)\#(extra)}"#
        let hash = claims.token.map { Base64URL.encode(SHA256.hash($0)) }
        let members = [
            claims.id.map { #""jti":"\#($0)""# }, #""htm":"\#(claims.method)""#, #""htu":"\#(claims.url)""#,
            #""iat":\#(Int(claims.issuedAt.timeIntervalSince1970))"#, claims.nonce.map { #""nonce":"\#($0)""# },
            hash.map { #""ath":"\#($0)""# }, claims.storage.map { #""key_storage":"\#($0)""# },
        ]
        let payload = "{\(members.compactMap(\.self).joined(separator: ","))}"
        return try JWS.compact(header: Array(header.utf8), payload: Array(payload.utf8)) { bytes throws(CryptoError) in
            try (signer ?? key).signES256(bytes)
        }
    }
}
