/// How much an upload may be.
struct UploadLimits: Sendable {
    /// Bytes of a whole body: 96 MiB.
    var bodyBytes = 96 * 1024 * 1024
    /// Bytes of one picture: 10 MiB.
    var pictureBytes = 10 * 1024 * 1024
    /// Bytes of the body that orders one picture: base64 and JSON's escapes make it longer than the picture.
    var imageBodyBytes = 16 * 1024 * 1024
    /// Bytes of one plain field.
    var textBytes = 4 * 1024
    /// Uploads at a time; more are told to come back.
    var concurrentUploads = 64
}
