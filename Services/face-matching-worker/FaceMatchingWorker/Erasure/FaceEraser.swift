internal import Accounts
internal import ServiceDefaults

/// Erases the face of a user and the hashes of the user's photos.
///
/// A session that is being matched writes nothing afterwards: it was ended when the erasure began.
struct FaceEraser: UserEraser {
    func erase(_ erasure: Erasure, _ ledger: ErasureLedger) async throws -> Bool {
        try await ledger.step("face_templates") { try await FaceErasureRepository($0).deleteTemplate(for: erasure) }
        try await ledger.step("face_duplicates") { try await FaceErasureRepository($0).deleteDuplicates(for: erasure) }
        try await ledger.step("face_photo_hashes") { try await FaceErasureRepository($0).deletePhotoHashes(for: erasure) }
        return true
    }
}
