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

    /// Returns an expiring link to a picture, which works without any other credential.
    public func link(to key: BlobKey, as type: MediaType, until expires: Date) -> String {
        signer.link(to: key, as: type, until: expires)
    }
}
