internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import Pictures
internal import PostgresClient
internal import ServiceDefaults
internal import Topics

/// Erases the pictures of a user: image jobs with their objects, and photos of events with theirs.
///
/// A job under a lease is left to its worker, which stops and deletes its objects; a photo that was waiting for its thumbnail is left for
/// a minute, because its worker may be about to write it.
struct PictureEraser: UserEraser {
    private static let sliceSize = 100

    let store: any BlobStore

    func erase(_ erasure: Erasure, _ ledger: ErasureLedger) async throws -> Bool {
        guard erasure.scope == .account else { return true }
        let userID = erasure.userID
        let pictures = PictureErasureRepository(ledger.postgres)
        try await pictures.hideJobs(of: userID)
        try await ledger.step("topic_photo_windows") { try await PictureErasureRepository($0).hidePhotos(of: userID) }
        try await eraseInSlices {
            try await pictures.jobs(of: userID, limit: Self.sliceSize)
        } delete: { id in
            try await store.deleteAll(under: BlobFolder.imageJobs.prefix(of: id))
            try await ledger.step("image_jobs") { try await PictureErasureRepository($0).deleteJob(id) }
        }
        // No call and no cost is counted any more: no job is left.
        try await ledger.step("image_calls") { try await PictureErasureRepository($0).deleteCalls(of: userID) }
        try await ledger.step("image_costs") { try await PictureErasureRepository($0).deleteCosts(of: userID) }
        try await eraseInSlices {
            try await pictures.photos(of: userID, limit: Self.sliceSize)
        } delete: { id in
            try await store.deleteAll(under: BlobFolder.topicPhotos.prefix(of: id))
            try await ledger.step("topic_photos") { try await TopicPhotoRepository($0).remove([id]) }
        }
        return try await !pictures.hasPictures(of: userID)
    }

    private func eraseInSlices(_ slice: () async throws -> [UUID], delete: (UUID) async throws -> Void) async throws {
        var ids: [UUID]
        repeat {
            try Task.checkCancellation()
            ids = try await slice()
            for id in ids { try await delete(id) }
        } while ids.count == Self.sliceSize
    }
}
