internal import BlobStore
internal import FoundationEssentials
internal import ImageGenerators
internal import ImageProbe
internal import Imaging
internal import Logging
internal import PostgresClient
internal import Storage
internal import Tracing
internal import WireFormat

/// Makes the picture of a job: upload in, picture and thumbnail stored.
struct PictureMaker: Sendable {
    /// How far a job is when its upload is ready for the generator, in percent.
    private static let readyPercent = 5
    /// How far it is when the generator has given its picture.
    private static let generatedPercent = 85
    /// How far it is when picture and thumbnail are made.
    private static let finishedPercent = 95

    let postgres: PostgresClient
    let store: any BlobStore
    let calls: GeneratorCalls
    /// Where pictures are computed.
    let threads: PictureThreads

    /// Makes the picture and stores it; nothing is committed yet.
    ///
    /// - Parameters:
    ///   - deadline: When nobody waits for it any more.
    ///   - progress: Is told how far it is, in percent; does not block.
    /// - Throws: ``JobFailure`` when there will be none, ``JobUnwanted``, or what may be mended by another try.
    func make(
        _ hold: JobHold, deadline: ContinuousClock.Instant, _ logger: Logger, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> ImageJob.Result {
        let job = hold.job
        guard let template = try await ImageTemplateRepository(postgres).find(id: job.templateID),
            let style = PictureStyle(rawValue: template.style)
        else { throw JobFailure(.processingFailed, cause: "the template \(job.templateID) has no style that is known") }
        let quality = job.quality.flatMap(PictureQuality.init) ?? .medium
        let blobs = JobBlobs(store: store, jobID: job.id)
        let upload = try await upload(of: hold, blobs)
        let side = max(quality.maxSide, job.width ?? 0, job.height ?? 0)
        let needed: @Sendable () -> Int = { PictureMemory.normalising(upload, maxSide: side) }
        let normalised = try await compute("normalise upload", ofUpload: true, taking: needed) { () throws(ImagingError) in
            try PictureWorkshop.normalise(upload, maxSide: side)
        }
        progress(Self.readyPercent)
        let request = GenerationRequest(
            jobID: job.id,
            template: GenerationTemplate(
                id: template.id, name: template.name, prompt: template.instructions, style: style),
            picture: normalised.picture, width: job.width, height: job.height, quality: quality, deadline: deadline,
            progress: { progress(Self.readyPercent + $0 * (Self.generatedPercent - Self.readyPercent) / 100) })
        let raw = try await calls.picture(request, for: hold, blobs, logger)
        progress(Self.generatedPercent)
        let limits = ImageLimits(bytes: JobBlobs.rawBytesMax)
        let share: @Sendable () -> Int = {
            PictureMemory.finishing(raw.bytes, width: job.width, height: job.height, quality: quality, limits: limits)
        }
        let (picture, thumbnail) = try await compute("finish picture", ofUpload: false, taking: share) { () throws(ImagingError) in
            let picture = try PictureWorkshop.finish(
                raw.bytes, width: job.width, height: job.height, quality: quality, limits: limits)
            return (picture, try PictureWorkshop.thumbnail(of: picture.bytes, limits: limits))
        }
        progress(Self.finishedPercent)
        let resultKey = try await blobs.writeMedia(picture, as: "result")
        let thumbnailKey = try await blobs.writeMedia(thumbnail, as: "thumbnail")
        return ImageJob.Result(
            key: resultKey.name, format: picture.format.rawValue, byteCount: picture.bytes.count, width: picture.width,
            height: picture.height, originalWidth: normalised.originalWidth, originalHeight: normalised.originalHeight,
            thumbnailKey: thumbnailKey.name, modelUsed: raw.modelUsed, generationTimeMs: raw.durationMs)
    }

    private func upload(of hold: JobHold, _ blobs: JobBlobs) async throws -> [UInt8] {
        guard let name = hold.job.inputKey, let bytes = try await blobs.readIfPresent(BlobKey(name), limit: JobBlobs.uploadBytesMax)
        else {
            // Deleted by its user a moment ago, or lost.
            guard try await hold.keep(postgres) else { throw JobUnwanted() }
            throw JobFailure(.processingFailed, cause: "the upload is not there, or cannot be opened")
        }
        return bytes
    }

    /// Computes on a thread of its own, once there is memory for it.
    ///
    /// A library that does not work now may work later; everything else is final.
    private func compute<Value: Sendable>(
        _ stage: String, ofUpload isUpload: Bool, taking share: @escaping @Sendable () -> Int,
        _ body: @escaping @Sendable () throws(ImagingError) -> Value
    ) async throws -> Value {
        do {
            return try await withSpan(stage) { _ in try await threads.run(taking: share, body) }
        } catch let error as ImagingError where error.code != .unavailable {
            throw JobFailure(error, ofUpload: isUpload)
        }
    }
}
