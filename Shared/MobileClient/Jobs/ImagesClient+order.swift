public import Foundation

extension ImagesClient {
    /// The bytes of the largest picture that the API takes. A larger one is scaled down.
    public static let maxPictureBytes = ArgumentLimits.maxPhotoBytes

    /// Orders a picture from one in memory.
    ///
    /// Returns when the order is stored on the device. From then on it reaches an end, even after a crash. The API's answer, which may be a
    /// refusal, comes with ``updates(of:)``. A picture that is larger than the API accepts (10 MB, 40 megapixels, 12,000 pixels a side) is
    /// scaled down first, to at most 16 megapixels; any other picture is sent unchanged.
    /// - Parameters:
    ///   - picture: JPEG, PNG, WebP or HEIC. It is copied.
    ///   - template: The id of one of ``templates()``.
    ///   - options: The size and the quality of the picture.
    ///   - deviceToken: The FCM token that is to get the push; nil if the app has registered it.
    /// - Throws: `invalid_argument` for an order that the API would not accept, such as a picture that is too large and cannot be scaled
    ///   down; `storage` when the device has no space; `signed_out` when the person signs out meanwhile. Then the picture is not ordered.
    public func process(
        _ picture: Data, template: String, options: Options = Options(), deviceToken: String? = nil
    ) async throws(HeliographError) -> Job {
        try await order(.data(picture), template, options, deviceToken)
    }

    /// Orders a picture from one in a file, as ``process(_:template:options:deviceToken:)`` does. The file is copied and stays.
    public func process(
        file: URL, template: String, options: Options = Options(), deviceToken: String? = nil
    ) async throws(HeliographError) -> Job {
        try await order(.file(file), template, options, deviceToken)
    }

    private func order(
        _ picture: PhotoSource, _ template: String, _ options: Options, _ deviceToken: String?
    ) async throws(HeliographError) -> Job {
        guard (1...200).contains(template.utf8.count) else {
            throw ArgumentLimits.refusal("template_id", "An id of a template is not empty")
        }
        var parts = [MultipartFileWriter.Part("template_id", .text(template))]
        if let text = try Self.text(of: options) { parts.append(.init("options", .text(text))) }
        if let deviceToken { parts.append(.init("device_token", .text(deviceToken))) }
        let owner = await tracker.owner()
        parts.append(try await OutgoingPhoto(picture, .picture, field: "image", scaler: scaler).part("image", named: "picture"))
        let store = tracker.store
        let file = try await store.newFile(extension: "form")
        let written = try await MultipartFileWriter().write(parts, to: file)
        let id = UUID()
        do throws(HeliographError) {
            // A large picture takes a while to scale: the order must not become another person's.
            guard await tracker.owner() == owner else { throw HeliographError(.signedOut, "The person has signed out meanwhile") }
            let task = try PendingTask(
                id: id, kind: .imageJob, createdAt: tracker.time.now(),
                encoding: JobRecord(template: template, boundary: written.boundary, owner: owner),
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

    /// The options as the JSON of a form's field; nil without options.
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
