internal import Accounts
internal import BlobStore
internal import FaceEngine
internal import HeliographCrypto
internal import Tracing
internal import WireFormat

/// An analysed photo of a session.
struct ExaminedPhoto: Sendable {
    let pose: SessionPhoto.Pose
    let digest: [UInt8]
    let pixelDigest: [UInt8]?
    let analysis: PhotoAnalysis
    /// The time that it has occupied an engine for.
    var engineTime = Duration.zero
}

/// Reads and analyses the photos of a session.
struct PhotoExaminer: Sendable {
    /// The most photos of a session in memory at once: all photos of a sign-in, so that the photos of a known device wait for an
    /// engine together. If a photo were read only after another one's analysis, that engine would be busy with another session's photo.
    static let maxInMemory = 3
    /// The time of engines after which the further photos of a session are analysed after those of other sessions. Ordinary sign-ups take a
    /// tenth of it, and half of it on a busy machine: the estimate by which the session got its lane was wrong.
    static let ordinaryTime = Duration.seconds(5)

    let blobs: any BlobStore
    let engines: FaceEnginePool
    let precedence: FaceEnginePool.Precedence

    /// Analyses all photos and returns the results in the order of the photos. Photos that answer a challenge do not become part of a
    /// template.
    func examine(_ photos: [SessionPhoto], for purpose: PhotoPurpose) async throws -> [ExaminedPhoto] {
        try await withThrowingTaskGroup(of: (Int, ExaminedPhoto).self) { group in
            var examined = [ExaminedPhoto?](repeating: nil, count: photos.count)
            var used = Duration.zero
            for (index, photo) in photos.enumerated() {
                if index >= Self.maxInMemory, let (done, result) = try await group.next() {
                    examined[done] = result
                    used += result.engineTime
                }
                let precedence = Self.precedence(self.precedence, after: used)
                group.addTask { (index, try await examine(photo, for: photo.pose == .challenge ? .signIn : purpose, precedence)) }
            }
            while let (done, result) = try await group.next() { examined[done] = result }
            return examined.compactMap { $0 }
        }
    }

    /// The precedence of the next photo of a session whose photos have taken this time.
    static func precedence(_ own: FaceEnginePool.Precedence, after used: Duration) -> FaceEnginePool.Precedence {
        used > ordinaryTime ? .background : own
    }

    private func examine(
        _ photo: SessionPhoto, for purpose: PhotoPurpose, _ precedence: FaceEnginePool.Precedence
    ) async throws -> ExaminedPhoto {
        let bytes = try await withSpan("read photo") { _ in try await blobs.read(try BlobKey(photo.key), limit: PictureLimits.maxBytes) }
        let start = ContinuousClock.now
        let analysed = try await withSpan("analyse photo") { _ in try await engines.examine(bytes, for: purpose, precedence: precedence) }
        FaceMatchingMetrics.examined(took: .now - start)
        return ExaminedPhoto(
            pose: photo.pose, digest: SHA256.hash(bytes), pixelDigest: analysed.photo.pixelDigest, analysis: analysed.photo.analysis,
            engineTime: analysed.engineTime)
    }
}
