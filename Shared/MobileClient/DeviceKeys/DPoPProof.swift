internal import Foundation

/// The text of a proof that the device has a key: a JSON Web Token (RFC 9449 §4.2).
struct DPoPProof: Sendable {
    /// Whether a request carries a proof.
    enum Use: Sendable, Equatable {
        case none
        /// Of the key of the device, which is made if there is none.
        case ofKey
        /// Also of another key, if the device cannot use the one that it has: the request begins a sign-in.
        case ofUsableKey
    }

    private struct Header: Encodable {
        struct PublicKey: Encodable {
            let kty = "EC"
            let crv = "P-256"
            let x: String
            let y: String
        }

        let typ = "dpop+jwt"
        let alg = "ES256"
        let jwk: PublicKey
    }

    private struct Claims: Encodable {
        let jti: String
        let htm: String
        let htu: String
        let iat: Int64
        let nonce: String?
        let ath: String?
        let keyStorage: String

        enum CodingKeys: String, CodingKey {
            case jti, htm, htu, iat, nonce, ath
            case keyStorage = "key_storage"
        }
    }

    /// The name of the key in a proof, which the API names if it is not that of the sign-in.
    static let keyField = "jwk"

    let method: String
    /// The URL of the request; its query is left out.
    let url: URL
    /// The SHA-256 of the request's bearer token; nil without one.
    let tokenHash: Data?
    let issuedAt: Date
    /// The last nonce that the API has sent.
    let nonce: String?

    /// Returns the value of the header `DPoP`. Each text is of one use, because it has an id of its own.
    func text(signedBy key: any DeviceSigningKey) throws -> String {
        let point = key.publicPoint
        guard point.count == 64 else { throw DeviceKeyLoss() }
        let address = url.absoluteString.prefix { $0 != "?" }
        let claims = Claims(
            jti: UUID().wireText, htm: method, htu: String(address), iat: Int64(issuedAt.timeIntervalSince1970.rounded(.down)),
            nonce: nonce, ath: tokenHash.map(Self.base64URL), keyStorage: key.isInHardware ? "hardware" : "software")
        let header = Header(jwk: .init(x: Self.base64URL(point.prefix(32)), y: Self.base64URL(point.suffix(32))))
        let signed = "\(Self.base64URL(WireJSON.data(header))).\(Self.base64URL(WireJSON.data(claims)))"
        return signed + "." + Self.base64URL(try key.signature(of: Data(signed.utf8)))
    }

    /// Encodes bytes without padding (RFC 4648 §5).
    static func base64URL(_ data: some DataProtocol) -> String {
        Data(data).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
