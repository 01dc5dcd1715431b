public import BlobStore
public import FoundationEssentials
internal import HeliographCrypto

/// What a valid link gives access to.
public struct MediaGrant: Sendable, Equatable {
    /// The object.
    public let key: BlobKey
    /// What kind of picture it is.
    public let type: PictureType
    /// When the link ends.
    public let expires: Date
}

/// Makes and checks links to pictures: `<public URL>/media/<key>?exp=<seconds>&sig=<signature>`.
///
/// The key of a picture ends with its extension, such as `.jpg`: phones go by that.
///
/// The signature is an HMAC-SHA256, in base64url, over a context, the path and the expiry. A link is a capability: whoever
/// has it sees that one picture until it expires, without any other credential, as iOS' notification extension needs it.
public struct MediaLinkSigner: Sendable {
    /// The first part of the path.
    public static let pathPrefix = "/media/"
    /// Bytes of a key.
    public static let keyByteCount = 32
    /// Signed along, so that the key signs nothing else.
    private static let context = "heliograph media link v1"
    /// The most digits of an expiry that are read.
    private static let expiryDigitsMax = 12

    private let key: [UInt8]
    private let publicURL: PublicURL

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - key: 32 random bytes. With another one, every link made so far ends.
    ///   - publicURL: where phones reach the service that answers `/media/…`.
    public init(key: [UInt8], publicURL: PublicURL) {
        self.key = key
        self.publicURL = publicURL
    }

    /// Returns the link to a picture, which ends at the next full second after `expires`; nil for an object whose key does not
    /// end like a picture's.
    public func link(to key: BlobKey, until expires: Date) -> String? {
        guard PictureType(of: key) != nil else { return nil }
        let expiry = "\(Int64(expires.timeIntervalSince1970.rounded(.up)))"
        let signature = Base64URL.encode(HMACSHA256.authenticate(Self.message(key.name, expiry), key: self.key))
        return "\(publicURL.text)\(Self.pathPrefix)\(key.name)?exp=\(expiry)&sig=\(signature)"
    }

    /// Returns what a link gives access to, nil for one that was not made here or has ended.
    ///
    /// - Parameters:
    ///   - path: what follows ``pathPrefix``, as it came: the key.
    ///   - expiry: the value of `exp`.
    ///   - signature: the value of `sig`, which is compared in constant time.
    ///   - now: the present.
    public func verify(path: String, expiry: String?, signature: String?, now: Date = Date()) -> MediaGrant? {
        guard let expiry, expiry.utf8.count <= Self.expiryDigitsMax, let seconds = Int64(expiry),
            let signature = signature.flatMap(Base64URL.decode),
            HMACSHA256.isValid(signature, of: Self.message(path, expiry), key: key),
            Double(seconds) > now.timeIntervalSince1970,
            let key = try? BlobKey(path), let type = PictureType(of: key)
        else { return nil }
        return MediaGrant(key: key, type: type, expires: Date(timeIntervalSince1970: Double(seconds)))
    }

    private static func message(_ path: String, _ expiry: String) -> [UInt8] { Array("\(context)\n\(path)\n\(expiry)".utf8) }
}
