public import ServiceDefaults
public import ServiceLifecycle

/// Makes pictures; for now it only starts, is observed and stops like its siblings.
///
/// Its handlers for `image.requested` and `photo.uploaded` come with the image jobs. Nothing publishes those
/// events yet, and groups are created at the beginning of a stream, so nothing is missed until then.
public enum ImageWorker: HeliographService {
    public static let name = "image-worker"
    public static let summary = "Makes pictures with AI and thumbnails of photos (handlers come with the image jobs)."

    public static func build(_ context: ServiceContext) async throws -> [any Service] { [] }
}
