internal import Foundation

/// Says whether the API takes a photo, before it is sent.
enum PhotoFile {
    /// The format by the first bytes, as the API decides it.
    ///
    /// - Throws: `invalid_argument` with the field for a photo that is empty, larger than 10 MB or of another format.
    static func format(of photo: Data, field: String) throws(HeliographError) -> PictureFormat {
        try format(photo.prefix(PictureFormat.headBytes), photo.count, field)
    }

    /// The format of a file; throws as for data, and `storage` when it cannot be read.
    static func format(of file: URL, field: String) throws(HeliographError) -> PictureFormat {
        let head: Data
        let length: Int
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            head = try handle.read(upToCount: PictureFormat.headBytes) ?? Data()
            length = Int(clamping: try handle.seekToEnd())
        } catch {
            throw HeliographError(.storage, "A photo cannot be read", field: field)
        }
        return try format(head, length, field)
    }

    private static func format(_ head: Data, _ length: Int, _ field: String) throws(HeliographError) -> PictureFormat {
        guard length > 0 else { throw ArgumentLimits.refusal(field, "A photo is empty") }
        guard length <= ArgumentLimits.maxPhotoBytes else { throw ArgumentLimits.refusal(field, "A photo is larger than 10 MB") }
        guard let format = PictureFormat(head) else {
            throw ArgumentLimits.refusal(field, "A photo must be a JPEG, PNG, WebP or HEIC file")
        }
        return format
    }
}
