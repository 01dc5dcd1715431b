internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import NIOCore
internal import Storage
internal import WireFormat

/// The objects of a photo of a topic, all under `topics/<photo>`.
struct PhotoBlobs: Sendable {
    /// Maximum size of a photo in bytes; identity-api applies the same limit.
    static let maxPhotoBytes = 10 << 20
    /// Random bytes in the name of a thumbnail, so that two workers with the same photo do not overwrite each other's.
    private static let nonceByteCount = 8

    /// The key prefix of all photos.
    static func root() throws(BlobStoreError) -> BlobKey { try BlobKey("topics") }

    let store: any BlobStore
    let photoID: UUID

    private var prefix: String { "topics/\(photoID.wireString)" }

    /// Returns the photo as it was uploaded; nil when it is missing or permanently unreadable.
    func readPhoto(_ name: String) async throws(BlobStoreError) -> [UInt8]? {
        do throws(BlobStoreError) {
            return try await store.read(BlobKey(name), limit: Self.maxPhotoBytes)
        } catch {
            switch error.code {
            case .notFound, .damaged, .tooLarge, .invalidKey: return nil
            case .unavailable: throw error
            }
        }
    }

    /// Stores a thumbnail under a new, unique name.
    func writeThumbnail(_ bytes: [UInt8]) async throws -> BlobKey {
        let key = try BlobKey("\(prefix)/thumbnail-\(Hex.encode(SecureRandom.bytes(Self.nonceByteCount))).jpg")
        try await store.write(key, as: .media(contentType: "image/jpeg")) { try await $0.append(ByteBuffer(bytes: bytes)) }
        return key
    }

    /// Deletes all objects of the photo.
    func deleteAll() async throws(BlobStoreError) { try await store.deleteAll(under: try BlobKey(prefix)) }
}
