internal import BlobStore
internal import Hummingbird
internal import JSON
internal import Multipart

/// The order of a picture, as JSON or as a form, which the handler reads piece by piece. Only its head is checked before.
struct OrderBody: APIRequestBody {
    /// The fields of a form.
    private static let formFields = MultipartBody.Fields(
        pictures: ["image"], texts: ImageOrderFields.names, json: [ImageOrderFields.options])
    private static let maxBytes = UploadLimits().imageBodyBytes

    private let bytes: RequestBody
    /// The boundary of a form; nil for JSON.
    private let boundary: MultipartBoundary?

    static func read(_ request: Request, _: APIRequestContext) async throws -> OrderBody {
        let boundary = request.isJSON ? nil : try formBoundary(of: request)
        try request.checkContentLength(upTo: maxBytes)
        return OrderBody(bytes: request.body, boundary: boundary)
    }

    /// Reads the order, whose picture is stored under a key; see ``ReceivedImageOrder``.
    func receive(
        storingAs key: BlobKey?, with receiver: PictureReceiver, _ limits: UploadLimits
    ) async throws -> ReceivedImageOrder {
        guard let boundary else {
            var body = JSONImageBody(bytes, limits: limits)
            return try await ReceivedImageOrder(
                reading: &body, pictureField: JSONImageBody.pictureField, storingAs: key, with: receiver)
        }
        var body = MultipartBody(
            bytes, boundary: boundary, fields: Self.formFields, maxBytes: limits.imageBodyBytes, limits: limits)
        return try await ReceivedImageOrder(reading: &body, pictureField: "image", storingAs: key, with: receiver)
    }

    private static func formBoundary(of request: Request) throws(APIError) -> MultipartBoundary {
        do throws(APIError) {
            return try request.multipartBoundary()
        } catch  where error.code == .unsupportedMediaType {
            throw APIError(
                .unsupportedMediaType, "The body must be application/json or multipart/form-data", underlying: error.underlying)
        }
    }
}

extension OrderBody {
    static var description: APIBody? {
        APIBody(
            content: ["application/json": schema, "multipart/form-data": schema], maxBytes: maxBytes,
            example: [
                "template_id": "vintage", "image_base64": APIProperty.greyPicture, "options": ["width": 1_024, "quality": "high"],
                "device_token": APIProperty.pushToken,
            ])
    }

    private static let side = JSONSchema.integer(ImageOrderFields.sides).orNull
    /// One schema for both types: generators of clients write no type for a schema that forms alone have.
    private static let schema = JSONSchema.object(
        ["template_id": .text],
        optional: [
            "image_base64": .base64.orNull, "image": .file,
            "options": .object(optional: ["width": side, "height": side, "quality": .text.orNull]).orNull, "async": .boolean.orNull,
            "device_token": .text.orNull,
        ])
}
