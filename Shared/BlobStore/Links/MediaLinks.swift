public import FoundationEssentials

/// Makes links to pictures in the blob store.
public struct MediaLinks: Sendable {
    /// Makes and verifies the links that this system serves itself.
    public let signer: MediaLinkSigner
    private let store: (any BlobLinks)?

    /// Makes links to the objects of a store.
    ///
    /// - Parameter store: Makes the links that the store serves; nil when it serves no links.
    public init(store: (any BlobLinks)?, signer: MediaLinkSigner) {
        self.store = store
        self.signer = signer
    }

    /// Returns an expiring link to a picture, which works without any other credential: the store's own if the store serves links,
    /// and otherwise one to `GET /media/…`. Nil when the key does not end with the extension of a picture (`.jpg`, `.png`, `.webp`).
    public func link(to key: BlobKey, until expires: Date) -> String? {
        guard PictureType(of: key) != nil else { return nil }
        let lifetime = Duration.seconds(max(1, expires.timeIntervalSinceNow))
        return store?.link(to: key, expires: lifetime) ?? signer.link(to: key, until: expires)
    }
}
