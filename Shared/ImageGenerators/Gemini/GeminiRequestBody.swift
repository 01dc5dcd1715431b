internal import FoundationEssentials
internal import HeliographCrypto
internal import ImageProbe
internal import Imaging

/// Writes the body of `generateContent`.
enum GeminiRequestBody {
    /// The aspect ratios that models accept.
    private static let aspectRatios: [(width: Int, height: Int)] = [
        (1, 1), (2, 3), (3, 2), (3, 4), (4, 3), (4, 5), (5, 4), (9, 16), (16, 9), (21, 9),
    ]

    private struct GenerationConfig: Encodable {
        struct ImageConfig: Encodable {
            var aspectRatio: String?
            var imageSize: String?
        }

        let responseModalities = ["TEXT", "IMAGE"]
        let imageConfig: ImageConfig?
    }

    /// Returns the body of a request.
    ///
    /// - Throws: `invalidRequest` when it would exceed ``GeminiConfiguration/maxRequestByteCount``.
    static func make(
        _ request: GenerationRequest, maxImageSize: GeminiConfiguration.ImageSize
    ) throws(GenerationError) -> [UInt8] {
        let picture = request.picture
        let text: [UInt8]
        let config: [UInt8]
        do {
            text = [UInt8](try JSONEncoder().encode(prompt(of: request.template)))
            config = [UInt8](try JSONEncoder().encode(GenerationConfig(imageConfig: imageConfig(request, maxImageSize))))
        } catch {
            throw GenerationError(.invalidRequest, "the prompt cannot be written as JSON", underlying: error)
        }
        let base64ByteCount = (picture.bytes.count + 2) / 3 * 4
        guard text.count + config.count + base64ByteCount + 256 <= GeminiConfiguration.maxRequestByteCount else {
            throw GenerationError(
                .invalidRequest,
                "a picture of \(picture.bytes.count) bytes does not fit into a request of "
                    + "\(GeminiConfiguration.maxRequestByteCount) bytes")
        }
        var body: [UInt8] = []
        body.reserveCapacity(text.count + config.count + base64ByteCount + 256)
        body += #"{"contents":[{"role":"user","parts":[{"text":"#.utf8
        body += text
        body += #"},{"inlineData":{"mimeType":"\#(picture.format.mimeType)","data":""#.utf8
        Base64.encode(picture.bytes, into: &body)
        body += #""}}]}],"generationConfig":"#.utf8
        body += config
        body += "}".utf8
        return body
    }

    /// Returns the prompt with a final instruction, without which a model may answer with text only.
    static func prompt(of template: GenerationTemplate) -> String {
        "\(template.prompt)\n\nAnswer with the final picture only."
    }

    private static func imageConfig(
        _ request: GenerationRequest, _ maxSize: GeminiConfiguration.ImageSize
    ) -> GenerationConfig.ImageConfig? {
        var config = GenerationConfig.ImageConfig()
        // Without both sides the shape follows the source picture, which is the models' default.
        if let width = request.width, let height = request.height { config.aspectRatio = aspectRatio(width, height) }
        config.imageSize = imageSize(request, maxSize)?.rawValue
        return config.aspectRatio == nil && config.imageSize == nil ? nil : config
    }

    /// Returns the accepted aspect ratio that is nearest to the ratio of a size, by the quotient of the two.
    static func aspectRatio(_ width: Int, _ height: Int) -> String {
        let wanted = Double(max(width, 1)) / Double(max(height, 1))
        func distance(_ ratio: (width: Int, height: Int)) -> Double {
            let factor = wanted * Double(ratio.height) / Double(ratio.width)
            return max(factor, 1 / factor)
        }
        let nearest = aspectRatios.min { distance($0) < distance($1) } ?? (1, 1)
        return "\(nearest.width):\(nearest.height)"
    }

    /// Returns the smallest sufficient size; nil when it is the models' default.
    private static func imageSize(
        _ request: GenerationRequest, _ maxSize: GeminiConfiguration.ImageSize
    ) -> GeminiConfiguration.ImageSize? {
        let side = max(request.width ?? 0, request.height ?? 0)
        switch (maxSize, side) {
        case (.oneK, _), (_, ...1024): return nil
        case (.twoK, _), (_, ...2048): return .twoK
        case (.fourK, _): return .fourK
        }
    }
}
