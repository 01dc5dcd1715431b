internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import NIOCore
internal import Storage
internal import WireFormat

/// The objects of a photo of a topic, all under `topics/<photo>`.
struct PhotoBlobs: Sendable {
    /// The most bytes of a photo; identity-api holds them to the same.
    static let photoBytesMax = 10 << 20
    /// Random bytes in the name of a thumbnail: of two workers with one photo, neither replaces what the other has.
    private static let nonceByteCount = 8

    /// What all photos are under.
    static func root() throws(BlobStoreError) -> BlobKey { try BlobKey("topics") }

    let store: any BlobStore
    let photoID: UUID

    private var prefix: String { "topics/\(photoID.wireString)" }

    /// Returns the photo as it was uploaded; nil when there is none that can be read and never will be.
    func readPhoto(_ name: String) async throws(BlobStoreError) -> [UInt8]? {
        do throws(BlobStoreError) {
            return try await store.read(BlobKey(name), limit: Self.photoBytesMax)
        } catch {
            switch error.code {
            case .notFound, .damaged, .tooLarge, .invalidKey: return nil
            case .unavailable: throw error
            }
        }
    }

    /// Stores a thumbnail under a name of its own.
    func writeThumbnail(_ bytes: [UInt8]) async throws -> BlobKey {
        let key = try BlobKey("\(prefix)/thumbnail-\(Hex.encode(SecureRandom.bytes(Self.nonceByteCount))).jpg")
        try await store.write(key, as: .media(contentType: "image/jpeg")) { try await $0.append(ByteBuffer(bytes: bytes)) }
        return key
    }

    /// Deletes everything the photo has.
    func deleteAll() async throws(BlobStoreError) { try await store.deleteAll(under: try BlobKey(prefix)) }
}
