public import FoundationEssentials
internal import HeliographCrypto

/// The access that a valid media link grants.
public struct MediaGrant: Sendable, Equatable {
    /// The key of the picture.
    public let key: BlobKey
    /// The type of the picture.
    public let type: PictureType
    /// The time at which the link expires.
    public let expires: Date
}

/// Makes and verifies links to pictures: `<public URL>/media/<key>?exp=<seconds>&sig=<signature>`.
///
/// The key of a picture ends with its extension, such as `.jpg`, by which phones recognise the type.
///
/// The signature is an HMAC-SHA256, in base64url, over a context, the path and the expiry. A link is a capability: its holder
/// can read that one picture until the link expires, without any other credential, as iOS' notification extension requires.
public struct MediaLinkSigner: Sendable {
    /// The first part of the path.
    public static let pathPrefix = "/media/"
    /// The size of a signing key.
    public static let keyByteCount = 32
    /// Part of the signed message, so that a signature is valid for media links only.
    private static let context = "heliograph media link v1"
    /// The most digits of a valid expiry.
    private static let maxExpiryDigits = 12

    private let key: [UInt8]
    /// The URL by which phones reach the service that serves `/media/…`.
    public let publicURL: PublicURL

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - key: 32 random bytes. A change of the key invalidates all links made before.
    ///   - publicURL: The URL by which phones reach the service that serves `/media/…`.
    public init(key: [UInt8], publicURL: PublicURL) {
        self.key = key
        self.publicURL = publicURL
    }

    /// Returns the link to a picture, which expires at `expires`, rounded up to a full second; nil when the key does not end with
    /// the extension of a picture.
    public func link(to key: BlobKey, until expires: Date) -> String? {
        guard PictureType(of: key) != nil else { return nil }
        let expiry = "\(Int64(expires.timeIntervalSince1970.rounded(.up)))"
        let signature = Base64URL.encode(HMACSHA256.authenticate(Self.message(key.name, expiry), key: self.key))
        return "\(publicURL.text)\(Self.pathPrefix)\(key.name)?exp=\(expiry)&sig=\(signature)"
    }

    /// Returns the access that a link grants; nil when its signature is invalid or it has expired.
    ///
    /// - Parameters:
    ///   - path: The part of the path after ``pathPrefix``, as received: the key.
    ///   - expiry: The value of `exp`.
    ///   - signature: The value of `sig`, which is compared in constant time.
    ///   - now: The current time.
    public func verify(path: String, expiry: String?, signature: String?, now: Date = Date()) -> MediaGrant? {
        guard let expiry, expiry.utf8.count <= Self.maxExpiryDigits, let seconds = Int64(expiry),
            let signature = signature.flatMap(Base64URL.decode),
            HMACSHA256.isValid(signature, of: Self.message(path, expiry), key: key),
            Double(seconds) > now.timeIntervalSince1970,
            let key = try? BlobKey(path), let type = PictureType(of: key)
        else { return nil }
        return MediaGrant(key: key, type: type, expires: Date(timeIntervalSince1970: Double(seconds)))
    }

    private static func message(_ path: String, _ expiry: String) -> [UInt8] { Array("\(context)\n\(path)\n\(expiry)".utf8) }
}
