internal import BlobStore
internal import FoundationEssentials
internal import ImageGenerators
internal import ImageProbe
internal import Imaging
internal import Logging
internal import Pictures
internal import PostgresClient
internal import Tracing
internal import WireFormat

/// Makes the picture of a job: reads the upload, calls the generator, stores result and thumbnail.
struct PictureMaker: Sendable {
    /// Progress when the upload is ready for the generator, in percent.
    private static let readyPercent = 5
    /// Progress when the generator has returned its picture, in percent.
    private static let generatedPercent = 85
    /// Progress when result and thumbnail are made, in percent.
    private static let finishedPercent = 95

    let postgres: PostgresClient
    let store: any BlobStore
    let calls: GeneratorCalls
    let pipeline: ImagePipeline
    /// The threads and memory for image processing.
    let threads: PictureThreads

    /// Makes and stores the picture; the caller commits the result.
    ///
    /// - Parameters:
    ///   - deadline: The job's deadline.
    ///   - progress: Receives the progress in percent; must not block.
    /// - Throws: ``JobFailure`` when the job must fail, ``JobCancelled``, or an error that a retry may resolve.
    func make(
        _ lease: JobLease, deadline: ContinuousClock.Instant, _ logger: Logger, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> ImageJob.Result {
        let job = lease.job
        guard let template = try await ImageTemplateRepository(postgres).find(id: job.templateID),
            let style = PictureStyle(rawValue: template.style)
        else { throw JobFailure(.processingFailed, cause: "the template \(job.templateID) has an unknown style or does not exist") }
        let quality = job.quality.flatMap(PictureQuality.init) ?? .usual
        let blobs = JobBlobs(store: store, jobID: job.id)
        let upload = try await upload(of: lease)
        let side = max(quality.maxSide, job.width ?? 0, job.height ?? 0)
        let needed: @Sendable () -> Int = { PictureMemory.normalising(upload, maxSide: side) }
        let normalised = try await compute("normalise upload", ofUpload: true, taking: needed) { [pipeline] () throws(ImagingError) in
            try pipeline.normalise(upload, maxSide: side)
        }
        progress(Self.readyPercent)
        let request = GenerationRequest(
            jobID: job.id,
            template: GenerationTemplate(
                id: template.id, name: template.name, prompt: template.instructions, style: style),
            picture: normalised.picture, width: job.width, height: job.height, quality: quality, deadline: deadline,
            progress: { progress(Self.readyPercent + $0 * (Self.generatedPercent - Self.readyPercent) / 100) })
        let raw = try await calls.picture(request, for: lease, blobs, logger)
        progress(Self.generatedPercent)
        let limits = ImageLimits(bytes: JobBlobs.maxRawBytes)
        let share: @Sendable () -> Int = {
            PictureMemory.finishing(raw.bytes, width: job.width, height: job.height, quality: quality, limits: limits)
        }
        let (picture, thumbnail) = try await compute("finish picture", ofUpload: false, taking: share) {
            [pipeline] () throws(ImagingError) in
            let picture = try pipeline.finish(
                raw.bytes, width: job.width, height: job.height, quality: quality, limits: limits)
            return (picture, try pipeline.thumbnail(of: picture.bytes, limits: limits))
        }
        progress(Self.finishedPercent)
        let resultKey = try await blobs.writeMedia(picture, as: "result")
        let thumbnailKey = try await blobs.writeMedia(thumbnail, as: "thumbnail")
        return ImageJob.Result(
            key: resultKey.name, format: picture.format.rawValue, byteCount: picture.bytes.count, width: picture.width,
            height: picture.height, originalWidth: normalised.originalWidth, originalHeight: normalised.originalHeight,
            thumbnailKey: thumbnailKey.name, modelUsed: raw.modelUsed, generationTimeMs: raw.durationMs)
    }

    private func upload(of lease: JobLease) async throws -> [UInt8] {
        guard let name = lease.job.inputKey, let bytes = try await store.readIfPresent(name, limit: PictureLimits.maxBytes)
        else {
            // Its user has just deleted the job, or the file is lost.
            guard try await lease.renew(postgres) else { throw JobCancelled() }
            throw JobFailure(.processingFailed, cause: "the upload is missing or cannot be decrypted")
        }
        return bytes
    }

    /// Runs image processing on the thread pool, once its share of memory is free.
    ///
    /// Every imaging error but `unavailable` fails the job; `unavailable` (the library failed) is retried.
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
