internal import BlobStore
internal import NIOCore

/// What a body that orders a picture brought.
struct ReceivedImageOrder: Sendable {
    let order: ImageOrder
    /// See ``ImageOrder/fingerprint(pictureSHA256:)``.
    let fingerprint: [UInt8]
}

/// Reads the order of a picture: the picture goes to the blob store as it arrives, the fields are kept.
struct ImageOrderReceiver {
    let limits: UploadLimits
    /// Where the picture goes; nil for a repetition, which is only looked at.
    let destination: (blobs: any BlobStore, key: BlobKey)?
    /// Called before each piece of the picture is asked for.
    let onProgress: () async throws -> Void

    /// Reads the whole body and checks that it is an order.
    ///
    /// - Throws: ``APIError`` at the first thing that is wrong. Of the picture nothing is stored then, unless it came whole
    ///   and what is wrong came after it: that is up to the caller.
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
                // What the client calls it, in a data URI or for a file, does not matter: the bytes say what it is.
                return try check.finish()
            case .field, .pictureBegan:
                throw APIError.internal
            }
        }
        throw APIError.internal
    }
}
