internal import ImageProbe
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
    /// The limits of a picture of an order, and of a topic's photo.
    var picture: ImageLimits { ImageLimits(bytes: pictureBytes) }
    /// The limits of a photo of a face, which has fewer pixels: nine and more of them are examined at once.
    var face: ImageLimits {
        var limits = ImageLimits.face
        limits.bytes = pictureBytes
        return limits
    }
    /// The maximum number of concurrent uploads; more are refused with `overloaded`.
    var concurrentUploads = 64
}
