internal import Foundation

/// A photo as it is sent: unchanged if it is within the limits, otherwise scaled down.
struct OutgoingPhoto: Sendable, Equatable {
    let format: PictureFormat
    let content: MultipartFileWriter.Part.Content

    /// Each has half the side of the one before: a photo of noise is more than 10 MB in spite of its size.
    private static let maxAttempts = 3
    /// One photo after the other, because each takes the memory of its pixels, and on a thread that may work for seconds.
    private static let queue = DispatchQueue(label: "heliograph.photos", qos: .userInitiated, autoreleaseFrequency: .workItem)

    /// Checks a photo, and scales it down if it is larger than the limits.
    ///
    /// A photo that is larger and cannot be scaled, because it is damaged or there is no scaler, is refused here: the API would refuse it
    /// too, after an upload of many megabytes.
    /// - Throws: `invalid_argument` with the field for a photo that is empty, of another format, or too large; `storage` for a file that
    ///   cannot be read.
    init(
        _ photo: PhotoSource, _ limits: PhotoLimits, field: String, scaler: (any PhotoScaling)?
    ) async throws(HeliographError) {
        let (format, size, bytes) = try Self.facts(of: photo, field)
        guard !limits.allow(size, bytes: bytes) else {
            (self.format, content) = (format, photo.content)
            return
        }
        guard let jpeg = await Self.scaled(photo, to: limits.scaledSide(of: size), scaler) else {
            throw ArgumentLimits.refusal(
                field, "A photo has up to \(limits.description), and this one cannot be scaled down here: give a smaller one")
        }
        (self.format, content) = (.jpeg, .data(jpeg))
    }

    /// The part of a form with the photo, as a file of this name.
    func part(_ field: String, named name: String) -> MultipartFileWriter.Part {
        MultipartFileWriter.Part(field, fileName: "\(name).\(format.fileExtension)", contentType: format.mediaType, content)
    }

    private static func facts(
        of photo: PhotoSource, _ field: String
    ) throws(HeliographError) -> (format: PictureFormat, size: PhotoSize?, bytes: Int) {
        guard let reader = try? PhotoReader(photo) else { throw HeliographError(.storage, "A photo cannot be read", field: field) }
        guard reader.count > 0 else { throw ArgumentLimits.refusal(field, "A photo is empty") }
        guard let format = PictureFormat(reader.prefix(PictureFormat.headBytes)) else {
            throw ArgumentLimits.refusal(field, "A photo must be a JPEG, PNG, WebP or HEIC file")
        }
        return (format, PhotoSize(of: reader, format), reader.count)
    }

    private static func scaled(_ photo: PhotoSource, to side: Int, _ scaler: (any PhotoScaling)?) async -> Data? {
        guard let scaler else { return nil }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: scaledNow(photo, to: side, scaler)) }
        }
    }

    private static func scaledNow(_ photo: PhotoSource, to side: Int, _ scaler: any PhotoScaling) -> Data? {
        for attempt in 0..<maxAttempts {
            // A photo that cannot be decoded at one size cannot be decoded at another, either.
            guard let jpeg = scaler.jpeg(of: photo, maxSide: max(side >> attempt, 1)) else { return nil }
            if jpeg.count <= ArgumentLimits.maxPhotoBytes { return jpeg }
        }
        return nil
    }
}
