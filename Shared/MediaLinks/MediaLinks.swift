public import BlobStore
public import FoundationEssentials

/// Gives out links to pictures in the blob store.
public struct MediaLinks: Sendable {
    /// Checks the links that this system answers itself.
    public let signer: MediaLinkSigner
    private let blobs: any BlobStore

    /// Makes links to what is in a store.
    public init(blobs: any BlobStore, signer: MediaLinkSigner) {
        self.blobs = blobs
        self.signer = signer
    }

    /// Returns an expiring link to a picture, which works without any other credential: the store's own, if it hands out
    /// pictures by itself, and otherwise one that `GET /media/…` answers. Nil for an object whose key does not end like a
    /// picture's (`.jpg`, `.png`, `.webp`).
    public func link(to key: BlobKey, until expires: Date) -> String? {
        guard PictureType(of: key) != nil else { return nil }
        let lifetime = Duration.seconds(max(1, expires.timeIntervalSinceNow))
        return blobs.link(to: key, expires: lifetime) ?? signer.link(to: key, until: expires)
    }
}
