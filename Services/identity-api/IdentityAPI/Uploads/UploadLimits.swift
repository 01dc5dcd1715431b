internal import WireFormat

/// The size limits of uploads.
struct UploadLimits: Sendable {
    /// The maximum size of the body of a sign-up or sign-in: 96 MiB.
    var bodyBytes = 96 * 1024 * 1024
    /// The maximum size of one picture: 10 MiB.
    var pictureBytes = PictureLimits.maxBytes
    /// The maximum size of a body with one picture (image order, topic photo): base64 and JSON escapes make it longer than the picture.
    var imageBodyBytes = 16 * 1024 * 1024
    /// The maximum size of one text field.
    var textBytes = 4 * 1024
    /// The maximum number of concurrent uploads; more are refused with `overloaded`.
    var concurrentUploads = 64
}
