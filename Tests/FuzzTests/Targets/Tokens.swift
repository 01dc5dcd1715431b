import Accounts
import BlobStore
import Foundation
import HeliographCrypto
import JSON
import Push
import WireFormat

@testable import IdentityAPI

extension FuzzTarget {
    /// A byte that chooses the parser, and a token, a cursor, an id or a link.
    static let tokens = FuzzTarget(name: "tokens") { bytes in
        var input = FuzzInput(bytes)
        let checks = [checkSignedToken, checkServiceKey, checkCursor, checkTarget, checkTopic, checkID, checkLink]
        let check = checks[Int(input.byte()) % checks.count]
        try check(&input)
    }

    /// The header, the payload and the signature, one a line; as they are, and encoded as a token.
    private static func checkSignedToken(_ input: inout FuzzInput) throws {
        if let token = UnverifiedToken(input.text) { try checkClaims(token) }
        let parts = input.bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2).map { Base64URL.encode(Array($0)) }
        let text = parts.joined(separator: ".")
        guard let token = UnverifiedToken(text) else { return }
        try requireEqual(token.jws.signedBytes, Array(parts.prefix(2).joined(separator: ".").utf8), "the bytes that are signed")
        try requireEqual(token.jws.signature, Base64URL.decode(parts[2]), "the signature")
        try checkClaims(token)
    }

    private static func checkClaims(_ token: UnverifiedToken) throws {
        let now = Date(timeIntervalSince1970: 1_761_559_200)
        guard let claims = try? FirebaseClaims(token, project: FirebaseProject(id: "fuzz"), now: now) else { return }
        try require(claims.expiresAt > now, "an expired token")
        try require((1...FederatedSubject.maxSubjectLength).contains(claims.subject.unicodeScalars.count), "the limit of a subject")
    }

    private static func checkServiceKey(_ input: inout FuzzInput) throws {
        let text = input.text
        guard let key = ServiceKey(text) else { return }
        try requireEqual(key.text.lowercased(), text.lowercased(), "the key that is written")
        let again = ServiceKey(key.text)
        try requireEqual(again?.credentialID, key.credentialID, "the credential of a key that is written")
        try requireEqual(again?.secretHash, key.secretHash, "the secret of a key that is written")
    }

    private static func checkCursor(_ input: inout FuzzInput) throws {
        guard let cursor = ListCursor(input.text) else { return }
        try requireEqual(ListCursor(cursor.text), cursor, "the cursor that is written")
    }

    private static func checkTarget(_ input: inout FuzzInput) throws {
        let text = input.text
        guard let target = PushTarget(text) else { return }
        try requireEqual(target.value, text, "the value of a target")
        try require(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "the characters of a target")
        // A long value that begins with no id is an installation of its own.
        let isWhole = target.installationKey == SHA256.hash("installation:\(text)")
        try require(isWhole || text.prefix { $0 != ":" }.utf8.count >= 11, "a target whose installation many phones may share")
    }

    private static func checkTopic(_ input: inout FuzzInput) throws {
        let text = input.text
        if let topic = TopicName(text) { try requireEqual(Array(topic.text.utf8), Array(text.utf8), "the name of a topic that is written") }
    }

    private static func checkID(_ input: inout FuzzInput) throws {
        let text = input.text
        let id = UUID(wireBytes: text.utf8)
        // Foundation also accepts signs and blanks in place of digits.
        let places = text.utf8.enumerated().map { [8, 13, 18, 23].contains($0) ? $1 == 0x2D : Character(Unicode.Scalar($1)).isHexDigit }
        try requireEqual(id != nil, places.count == 36 && places.allSatisfy(\.self), "whether a text is an id")
        guard let id else { return }
        try requireEqual(id, UUID(uuidString: text), "the id and Foundation's")
        try requireEqual(id.wireString, text.lowercased(), "the id that is written")
    }

    /// The key of a picture, the expiry and the signature of a link, one a line.
    private static func checkLink(_ input: inout FuzzInput) throws {
        let (path, expiry, signature) = (input.line(), input.line(), input.text)
        let now = Date(timeIntervalSince1970: 1_761_559_200)
        guard let publicURL = PublicURL("https://fuzz.example") else { throw Disagreement(description: "a URL is refused") }
        let signer = MediaLinkSigner(key: [UInt8](repeating: 7, count: MediaLinkSigner.keyByteCount), publicURL: publicURL)
        try require(signer.verify(path: path, expiry: expiry, signature: signature, now: now) == nil, "a forged link")
        guard let key = try? BlobKey(path) else { return }
        try require(!path.split(separator: "/").contains { $0.hasPrefix(".") } && !path.hasPrefix("/"), "a key that leads elsewhere")
        guard let link = signer.link(to: key, until: now + 60), let query = link.split(separator: "?").last else { return }
        let values = query.split(separator: "&").compactMap { $0.split(separator: "=").last.map(String.init) }
        let grant = signer.verify(path: path, expiry: values.first, signature: values.last, now: now)
        try requireEqual(grant?.key, key, "the picture of a link")
    }
}
