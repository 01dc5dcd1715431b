import Foundation

/// The members of a proof that a request had.
struct SentProof {
    let header: [String: Any]
    let claims: [String: Any]
    let signature: Data

    init?(_ text: String) {
        let parts = text.split(separator: ".").compactMap { Self.bytes(String($0)) }
        guard parts.count == 3, let header = try? JSONSerialization.jsonObject(with: parts[0]) as? [String: Any],
            let claims = try? JSONSerialization.jsonObject(with: parts[1]) as? [String: Any]
        else { return nil }
        (self.header, self.claims, signature) = (header, claims, parts[2])
    }

    /// The coordinate x of the key, which tells keys apart.
    var publicKey: String? { (header["jwk"] as? [String: Any])?["x"] as? String }

    func text(_ claim: String) -> String? { claims[claim] as? String }

    private static func bytes(_ text: String) -> Data? {
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
    }
}
