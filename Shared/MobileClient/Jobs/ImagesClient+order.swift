public import Foundation

extension ImagesClient {
    /// The bytes of the largest picture that the API takes.
    public static let maxPictureBytes = ArgumentLimits.maxPhotoBytes

    /// Orders a picture from one in memory.
    ///
    /// Returns when the order is kept on the device, from which moment it has an end, whatever crashes; the API's answer, also a refusal,
    /// comes with ``updates(of:)``.
    /// - Parameters:
    ///   - picture: JPEG, PNG, WebP or HEIC of at most 10 MB. It is copied.
    ///   - template: The id of one of ``templates()``.
    ///   - options: The size and the quality of the picture.
    ///   - deviceToken: The FCM token that is to get the push; nil where the app has registered it.
    /// - Throws: `invalid_argument` for what the API would not take, `storage` when the device has no space. Nothing is ordered then.
    public func process(
        _ picture: Data, template: String, options: Options = Options(), deviceToken: String? = nil
    ) async throws(HeliographError) -> Job {
        let format = try PhotoFile.format(of: picture, field: "image")
        return try await order(.data(picture), format, template, options, deviceToken)
    }

    /// Orders a picture from one in a file, as ``process(_:template:options:deviceToken:)`` does. The file is copied and stays.
    public func process(
        file: URL, template: String, options: Options = Options(), deviceToken: String? = nil
    ) async throws(HeliographError) -> Job {
        let format = try PhotoFile.format(of: file, field: "image")
        return try await order(.file(file), format, template, options, deviceToken)
    }

    private func order(
        _ picture: MultipartFileWriter.Part.Content, _ format: PictureFormat, _ template: String, _ options: Options, _ deviceToken: String?
    ) async throws(HeliographError) -> Job {
        guard (1...200).contains(template.utf8.count) else {
            throw ArgumentLimits.refusal("template_id", "An id of a template is not empty")
        }
        var parts = [MultipartFileWriter.Part("template_id", .text(template))]
        if let text = try Self.text(of: options) { parts.append(.init("options", .text(text))) }
        if let deviceToken { parts.append(.init("device_token", .text(deviceToken))) }
        parts.append(.init("image", fileName: "picture.\(format.fileExtension)", contentType: format.mediaType, picture))
        let store = tracker.store
        let file = try await store.newFile(extension: "form")
        let written = try await MultipartFileWriter().write(parts, to: file)
        let id = UUID()
        do throws(HeliographError) {
            let task = try PendingTask(
                id: id, kind: .imageJob, createdAt: tracker.time.now(),
                encoding: JobRecord(template: template, boundary: written.boundary, owner: await tracker.owner()),
                files: [store.path(of: file)])
            // From here on the order has an end, whatever happens: the API may have it from the next line on.
            try await store.update(id) { $0 = task }
            await tracker.begin(task)
            return Job(id: id, jobID: nil, template: template, orderedAt: task.createdAt)
        } catch {
            // The record may be on the disk although the disk has not confirmed it.
            try? await store.update(id) { $0 = nil }
            try? store.operations.remove(file)
            throw error
        }
    }

    /// The options as the JSON of a form's field; nil when there are none.
    private static func text(of options: Options) throws(HeliographError) -> String? {
        for size in [options.width, options.height].compactMap(\.self) {
            guard (16...4096).contains(size) else { throw ArgumentLimits.refusal("options", "Width and height are 16 to 4096 pixels") }
        }
        guard options != Options() else { return nil }
        let fields = OptionFields(width: options.width, height: options.height, quality: options.quality?.rawValue)
        return String(decoding: WireJSON.data(fields), as: UTF8.self)
    }

    private struct OptionFields: Encodable {
        var width: Int?
        var height: Int?
        var quality: String?
    }
}
