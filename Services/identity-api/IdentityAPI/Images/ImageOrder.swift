internal import HeliographCrypto
internal import ImageProbe
internal import JSON
internal import Push

/// The validated fields of an order beside the picture.
struct ImageOrder: Sendable, Equatable {
    let templateID: String
    /// The requested size, in pixels.
    let width: Int?
    let height: Int?
    /// `low`, `medium` or `high`; nil leaves it to the worker.
    let quality: String?
    /// The device that gets the push about the outcome, if the order names one.
    let target: PushTarget?
    /// False if the answer waits for the picture, true if it does not; nil leaves it to the request's `Prefer`.
    let isAsync: Bool?

    /// The most pixels that the result has, made of a picture of a width and a height.
    func pixels(ofWidth sourceWidth: Int, height sourceHeight: Int) -> Int {
        let quality = quality.flatMap(PictureQuality.init) ?? .usual
        let scale = min(1, Double(quality.maxSide) / Double(max(sourceWidth, sourceHeight, 1)))
        let (freeWidth, freeHeight) = (Double(sourceWidth) * scale, Double(sourceHeight) * scale)
        return Int(width.map(Double.init) ?? freeWidth) * Int(height.map(Double.init) ?? freeHeight)
    }

    /// SHA-256 of the order and its picture, which distinguishes a repetition from another order under the same key.
    ///
    /// It covers the values, not their encoding: JSON or multipart, the order of fields, white space, and base64 with or without the
    /// prefix of a data URI make no difference. A missing `async` counts as true; a missing quality differs from an explicit `medium`.
    func fingerprint(pictureSHA256: [UInt8]) -> [UInt8] {
        var hasher = SHA256.Hasher()
        let fields = [
            "image order v1", templateID, width.map(String.init), height.map(String.init), quality, target?.value,
            isAsync == false ? "waits" : nil, Hex.encode(pictureSHA256),
        ]
        for field in fields {
            // Each value is preceded by its length, so that different lists of values have different encodings; a missing value has no
            // length.
            hasher.update(Array((field.map { "\($0.utf8.count):\($0)" } ?? "-").utf8))
        }
        return hasher.finalize()
    }
}

/// Collects the fields of an order as they arrive.
struct ImageOrderFields {
    static let templateID = "template_id"
    static let deviceToken = "device_token"
    static let options = "options"
    static let isAsync = "async"

    /// The allowed width and height of a result, in pixels.
    static let sides = 16...4_096
    /// The fields beside the picture.
    static let names: Set<String> = [templateID, deviceToken, options, isAsync]
    /// The allowed qualities.
    static let qualities = Set(PictureQuality.allCases.map(\.rawValue))
    private static let maxTemplateIDBytes = 64

    private var values: [String: JSONValue] = [:]

    /// Adds a field; a null, empty or unknown field is ignored.
    mutating func take(_ name: String, _ value: JSONValue) throws(APIError) {
        guard Self.names.contains(name) else { return }
        guard values[name] == nil else { throw APIError(.invalidRequest, "A field is given twice", field: name) }
        if !Optional(value).isAbsent { values[name] = value }
    }

    /// Validates the fields after the last one was added.
    func order() throws(APIError) -> ImageOrder {
        guard let templateID = try text(Self.templateID), !templateID.isEmpty else {
            throw APIError(.missingField, "The template is missing", field: Self.templateID)
        }
        guard templateID.utf8.count <= Self.maxTemplateIDBytes else { throw APIError.templateNotFound }
        let options = try options()
        return ImageOrder(
            templateID: templateID, width: options.width, height: options.height, quality: options.quality,
            target: try PushTarget(ofClient: try text(Self.deviceToken), field: Self.deviceToken),
            isAsync: try isAsync())
    }

    private func text(_ name: String) throws(APIError) -> String? { try values[name].text(of: name) }

    private func isAsync() throws(APIError) -> Bool? { try Flag.read(values[Self.isAsync], field: Self.isAsync) }

    private func options() throws(APIError) -> (width: Int?, height: Int?, quality: String?) {
        guard let value = values[Self.options] else { return (nil, nil, nil) }
        guard case .object(let members) = value else {
            throw APIError(.invalidRequest, "The options are an object", field: Self.options)
        }
        var options: (width: Int?, height: Int?, quality: String?) = (nil, nil, nil)
        for member in members where !Optional(member.value).isAbsent {
            switch member.name {
            case "width": options.width = try Self.side(member)
            case "height": options.height = try Self.side(member)
            case "quality": options.quality = Self.quality(member.value)
            default: continue
            }
        }
        return options
    }

    private static func side(_ member: JSONValue.Member) throws(APIError) -> Int {
        // Some JSON encoders write every number with a decimal point.
        guard let side = member.value.integer, sides.contains(side) else {
            let message = "A side is a whole number of pixels from \(sides.lowerBound) to \(sides.upperBound)"
            throw APIError(.invalidRequest, message, field: "\(options).\(member.name)")
        }
        return side
    }

    private static func quality(_ value: JSONValue) -> String {
        guard let quality = value.string, qualities.contains(quality) else { return PictureQuality.usual.rawValue }
        return quality
    }
}

extension APIError {
    static let templateNotFound = APIError(.templateNotFound, "There is no such template", field: ImageOrderFields.templateID)
}
