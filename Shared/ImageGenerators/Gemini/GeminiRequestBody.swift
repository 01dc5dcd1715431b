internal import FoundationEssentials
internal import HeliographCrypto
internal import ImageProbe
internal import Imaging

/// Writes the body of `generateContent`.
enum GeminiRequestBody {
    /// The shapes a model can be asked for.
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

    /// - Throws: `invalidRequest` when it would be larger than Google takes.
    static func make(
        _ request: GenerationRequest, imageSizeMax: GeminiConfiguration.ImageSize
    ) throws(GenerationError) -> [UInt8] {
        let picture = request.picture
        let text: [UInt8]
        let config: [UInt8]
        do {
            text = [UInt8](try JSONEncoder().encode(prompt(of: request.template)))
            config = [UInt8](try JSONEncoder().encode(GenerationConfig(imageConfig: imageConfig(request, imageSizeMax))))
        } catch {
            throw GenerationError(.invalidRequest, "the prompt cannot be written as JSON", underlying: error)
        }
        let base64ByteCount = (picture.bytes.count + 2) / 3 * 4
        guard text.count + config.count + base64ByteCount + 256 <= GeminiConfiguration.requestByteCountMax else {
            throw GenerationError(
                .invalidRequest, "a picture of \(picture.bytes.count) bytes does not fit into a request of "
                    + "\(GeminiConfiguration.requestByteCountMax) bytes")
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

    /// What is asked for: a model that is not told so may answer with words.
    static func prompt(of template: GenerationTemplate) -> String {
        "\(template.prompt)\n\nAnswer with the final picture only."
    }

    private static func imageConfig(
        _ request: GenerationRequest, _ sizeMax: GeminiConfiguration.ImageSize
    ) -> GenerationConfig.ImageConfig? {
        var config = GenerationConfig.ImageConfig()
        // With one side or none the shape is the picture's, which models keep when they are not told otherwise.
        if let width = request.width, let height = request.height { config.aspectRatio = aspectRatio(width, height) }
        config.imageSize = imageSize(request, sizeMax)?.rawValue
        return config.aspectRatio == nil && config.imageSize == nil ? nil : config
    }

    /// The shape that is nearest to a size's, by the factor one side is off.
    static func aspectRatio(_ width: Int, _ height: Int) -> String {
        let wanted = Double(max(width, 1)) / Double(max(height, 1))
        func distance(_ ratio: (width: Int, height: Int)) -> Double {
            let factor = wanted * Double(ratio.height) / Double(ratio.width)
            return max(factor, 1 / factor)
        }
        let nearest = aspectRatios.min { distance($0) < distance($1) } ?? (1, 1)
        return "\(nearest.width):\(nearest.height)"
    }

    /// The smallest size that is enough; nil when that is what models make anyway.
    private static func imageSize(
        _ request: GenerationRequest, _ sizeMax: GeminiConfiguration.ImageSize
    ) -> GeminiConfiguration.ImageSize? {
        let side = max(request.width ?? 0, request.height ?? 0)
        switch (sizeMax, side) {
        case (.oneK, _), (_, ...1024): return nil
        case (.twoK, _), (_, ...2048): return .twoK
        case (.fourK, _): return .fourK
        }
    }
}
