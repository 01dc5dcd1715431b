public import FoundationEssentials
internal import WireFormat

/// The folders of the store, each with one folder for each owner of objects.
///
/// The services share them: workers read what identity-api wrote, and sweepers delete what belongs to no owner.
public enum BlobFolder: String, Sendable, CaseIterable {
    /// The photos of sessions.
    case sessions = "ekyc"
    /// The uploads, unprocessed pictures, results and thumbnails of image jobs.
    case imageJobs = "images"
    /// The photos of topics and their thumbnails.
    case topicPhotos = "topics"

    /// The prefix of all objects of the folder.
    public var prefix: BlobKey { BlobKey(valid: rawValue) }

    /// The prefix of the objects of one session, job or photo.
    public func prefix(of id: UUID) -> BlobKey { BlobKey(valid: "\(rawValue)/\(id.wireString)") }

    /// The key of an object of one session, job or photo.
    ///
    /// - Throws: `invalidKey` for a name that is no part of a key.
    public func key(_ name: String, of id: UUID) throws(BlobStoreError) -> BlobKey { try BlobKey("\(prefix(of: id).name)/\(name)") }
}
