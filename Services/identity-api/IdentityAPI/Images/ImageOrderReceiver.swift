internal import BlobStore
internal import NIOCore

/// A complete image order.
struct ReceivedImageOrder: Sendable {
    let order: ImageOrder
    /// See ``ImageOrder/fingerprint(pictureSHA256:)``.
    let fingerprint: [UInt8]
}

/// Reads an image order: streams the picture to the blob store and keeps the fields in memory.
struct ImageOrderReceiver {
    let limits: UploadLimits
    /// The store and key for the picture; nil for a repetition, whose picture is only hashed.
    let destination: (blobs: any BlobStore, key: BlobKey)?
    /// Called after each piece of the picture.
    let onProgress: () async throws -> Void

    /// Reads and validates the whole body.
    ///
    /// - Throws: ``APIError`` at the first fault. The picture is stored then only if the fault comes after its end; the caller deletes it.
    func receive(_ body: inout some ImageUploadBody) async throws -> ReceivedImageOrder {
        var fields = ImageOrderFields()
        var picture: PictureCheck.Passed?
        while let piece = try await body.next() {
            switch piece {
            case .field(let name, let value):
                try fields.take(name, value)
            case .pictureBegan:
                guard picture == nil else { throw APIError(.invalidRequest, "A field is given twice", field: body.pictureField) }
                picture = try await receivePicture(&body)
            case .pictureData, .pictureEnded:
                throw APIError.internal
            }
        }
        let order = try fields.order()
        guard let picture else { throw APIError(.missingField, "The picture is missing", field: body.pictureField) }
        return ReceivedImageOrder(order: order, fingerprint: order.fingerprint(pictureSHA256: picture.sha256))
    }

    private func receivePicture(_ body: inout some ImageUploadBody) async throws -> PictureCheck.Passed {
        guard let destination else { return try await check(&body, writingTo: nil) }
        var source = body
        defer { body = source }
        return try await destination.blobs.write(destination.key) { writer in try await check(&source, writingTo: writer) }
    }

    private func check(
        _ body: inout some ImageUploadBody, writingTo writer: (any BlobWriter)?
    ) async throws -> PictureCheck.Passed {
        var check = PictureCheck(field: body.pictureField, limits: limits)
        while let piece = try await body.next() {
            switch piece {
            case .pictureData(let bytes):
                try check.take(bytes)
                try await writer?.append(bytes)
                try await onProgress()
            case .pictureEnded:
                // The type that the client declares, in a data URI or for a file, is ignored: the bytes determine it.
                return try check.finish()
            case .field, .pictureBegan:
                throw APIError.internal
            }
        }
        throw APIError.internal
    }
}
