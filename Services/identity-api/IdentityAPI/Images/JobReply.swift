internal import BlobStore
internal import FoundationEssentials
internal import JSON
internal import Pictures
internal import WireFormat

/// A job, with its picture or its failure once it has ended.
struct JobReply: APIObject {
    /// The picture of a job that has ended well.
    struct Result: PictureReply {
        static let members: [APIMember<Result>] = pictureMembers + [.required("metadata", \.metadata)]

        let picture: JobPicture?
        let metadata: PictureMetadata
    }

    static let members: [APIMember<JobReply>] = [
        .required("job_id", \.job.id), .required("status", \.job.status), .required("created_at", \.job.createdAt),
        .optional("completed_at", \.job.completedAt), .required("attempts", \.job.attempts), .optional("result", \.result),
        .optional("error", \.job.failure),
    ]

    let job: ImageJob
    let picture: JobPicture?
    private var result: Result? { picture.map { Result(picture: $0, metadata: PictureMetadata(job: job)) } }

    init(job: ImageJob, picture: JobPicture?) {
        (self.job, self.picture) = (job, picture)
    }
}

/// A job that ended while the response to its order waited for it: all members are directly in `data`.
struct FinishedJob: PictureReply {
    static let members: [APIMember<FinishedJob>] =
        [.required("job_id", \.job.id), .required("status", \.job.status)] + pictureMembers
        + [.optional("metadata", \.metadata), .optional("error", \.job.failure)]

    let job: ImageJob
    let picture: JobPicture?
    private var metadata: PictureMetadata? { picture.map { _ in PictureMetadata(job: job) } }

    init(job: ImageJob, picture: JobPicture?) {
        (self.job, self.picture) = (job, picture)
    }
}

/// The place of the picture in a reply.
enum JobPicture: Sendable {
    /// In the body, as the value of this data URI.
    case inline(dataURI: String)
    /// At these media links.
    case linked(image: String, thumbnail: String?)

    fileprivate var dataURI: String? { if case .inline(let uri) = self { uri } else { nil } }
    fileprivate var image: String? { if case .linked(let image, _) = self { image } else { nil } }
    fileprivate var thumbnail: String? { if case .linked(_, let thumbnail) = self { thumbnail } else { nil } }
}

/// A reply with a picture among its members.
protocol PictureReply: APIObject {
    var picture: JobPicture? { get }
}

extension PictureReply {
    fileprivate static var pictureMembers: [APIMember<Self>] {
        [
            .optional("processed_image_base64", \.picture?.dataURI), .optional("image_url", \.picture?.image),
            .optional("thumbnail_url", \.picture?.thumbnail),
        ]
    }
}

/// How a picture was made.
struct PictureMetadata: APIObject {
    /// The size of a picture.
    struct Size: APIObject {
        static let members: [APIMember<Size>] = [.required("width", \.width), .required("height", \.height)]

        let width: Int
        let height: Int
    }

    static let members: [APIMember<PictureMetadata>] = [
        .required("templateId", \.job.templateID), .required("templateName", \.job.templateName), .required("modelUsed", \.model),
        .required("generationTimeMs", \.milliseconds), .required("originalDimensions", \.original),
        .required("processedDimensions", \.processed),
    ]

    let job: ImageJob
    private var model: String { job.result?.modelUsed ?? "" }
    private var milliseconds: Int { job.result?.generationTimeMs ?? 0 }
    private var original: Size { Size(width: job.result?.originalWidth ?? 0, height: job.result?.originalHeight ?? 0) }
    private var processed: Size { Size(width: job.result?.width ?? 0, height: job.result?.height ?? 0) }

    init(job: ImageJob) { self.job = job }
}

extension ImageJob.Failure: APIObject {
    static let members: [APIMember<ImageJob.Failure>] = [
        .required("code", \.code.rawValue, .text.described(remedies)), .required("message", \.message),
    ]

    private static let remedies = ImageFailureCode.known.map { "`\($0.rawValue)`: \($0.remedy)" }.joined(separator: " ")
}

extension ImageJob.Result {
    /// The type of the picture.
    var mediaType: PictureType? { PictureType(rawValue: format) }
}
