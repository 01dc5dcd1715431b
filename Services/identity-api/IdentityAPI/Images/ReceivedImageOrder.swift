internal import BlobStore
internal import ImageProbe

/// A complete image order.
struct ReceivedImageOrder: Sendable {
    let order: ImageOrder
    /// See ``ImageOrder/fingerprint(pictureSHA256:)``.
    let fingerprint: [UInt8]
    /// The estimated processor time of the job: of decoding the upload, and of the result by its pixels.
    let cost: Duration

    /// The processor time of a pixel of the result in nanoseconds: some .35 s a megapixel, with the styles of the local generator.
    private static let nanosecondsPerPixel = 350
}

extension ReceivedImageOrder {
    /// Reads and validates a whole order: streams the picture to the blob store and keeps the fields in memory.
    ///
    /// - Parameter key: The key for the picture; nil for a repetition, whose picture is only hashed.
    /// - Throws: ``APIError`` at the first fault. The picture is stored then only if the fault comes after its end; the caller deletes it.
    init(
        reading body: inout some UploadBody, pictureField: String, storingAs key: BlobKey?, with receiver: PictureReceiver
    ) async throws {
        var fields = ImageOrderFields()
        var picture: PictureCheck.Passed?
        while let piece = try await body.next() {
            switch piece {
            case .field(let name, let value):
                try fields.take(name, value)
            case .pictureBegan(let field):
                guard picture == nil else { throw APIError(.invalidRequest, "A field is given twice", field: field) }
                picture = try await receiver.receive(&body, field: field, as: key)
            case .pictureData, .pictureEnded:
                throw APIError.internal
            }
        }
        let order = try fields.order()
        guard let picture else {
            throw APIError(.missingField, "The picture is missing: its field is \(pictureField)", field: pictureField)
        }
        let pixels = order.pixels(ofWidth: picture.info.width, height: picture.info.height)
        self.init(
            order: order, fingerprint: order.fingerprint(pictureSHA256: picture.sha256),
            cost: picture.info.cost + .nanoseconds(pixels * Self.nanosecondsPerPixel))
    }
}
