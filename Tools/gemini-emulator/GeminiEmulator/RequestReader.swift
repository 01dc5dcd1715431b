import FCMEmulator
import HeliographCrypto
import JSON

/// The parts of a `generateContent` request that the emulator reads.
struct GenerateContentRequest {
    var prompt = ""
    var pictures: [[UInt8]] = []
    var aspectRatio: String?
    var imageSize: String?

    /// SHA-256 of the prompt and the pictures, in hexadecimal digits; the shape and the size are not part of it.
    var fingerprint: String {
        var hasher = SHA256.Hasher()
        hasher.update(Array(prompt.utf8))
        for picture in pictures { hasher.update(picture) }
        return Hex.encode(hasher.finalize())
    }
}

/// Checks a body as Google's front end and the model behind it do, in this order: JSON, names, types, values.
struct RequestReader {
    private static let aspectRatios: Set = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"]
    private static let mimeTypes: Set = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]

    let model: String

    func read(_ bytes: [UInt8]) throws(GeminiRefusal) -> GenerateContentRequest {
        guard let body = try? JSONValue(parsing: bytes), let members = body.members else {
            throw .invalid("Invalid JSON payload received. Unexpected token.")
        }
        try Self.check(
            members, at: "",
            allowed: ["contents", "generationConfig", "safetySettings", "systemInstruction", "tools", "toolConfig", "cachedContent"])
        guard let contents = body["contents"]?.elements, !contents.isEmpty else {
            throw .invalid("* GenerateContentRequest.contents: contents is not specified\n")
        }
        var request = GenerateContentRequest()
        for (index, content) in contents.enumerated() { try read(content, at: "contents[\(index)]", into: &request) }
        if let config = body.either("generationConfig") { try read(config: config, into: &request) }
        return request
    }

    private func read(_ content: JSONValue, at path: String, into request: inout GenerateContentRequest) throws(GeminiRefusal) {
        try Self.check(content.members ?? [], at: path, allowed: ["role", "parts"])
        guard ["user", "model"].contains(content["role"]?.string ?? "user") else {
            throw .invalid("Please use a valid role: user, model.")
        }
        guard let parts = content["parts"]?.elements, !parts.isEmpty else {
            throw .invalid("* GenerateContentRequest.\(path).parts: contents.parts must not be empty.\n")
        }
        for (index, part) in parts.enumerated() { try read(part: part, at: "\(path).parts[\(index)]", into: &request) }
    }

    private func read(part: JSONValue, at path: String, into request: inout GenerateContentRequest) throws(GeminiRefusal) {
        try Self.check(part.members ?? [], at: path, allowed: ["text", "inlineData", "thoughtSignature", "mediaResolution"])
        if let text = part["text"] {
            guard let text = text.string else { throw .field("\(path).text", "Invalid value at '\(path).text' (TYPE_STRING)") }
            request.prompt += text
        } else if let blob = part.either("inlineData") {
            let path = "\(path).inline_data"
            try Self.check(blob.members ?? [], at: path, allowed: ["mimeType", "data"])
            let data = blob["data"]?.string ?? ""
            guard let picture = Base64.decode(data) else {
                throw .field(
                    "\(path).data",
                    "Invalid value at '\(path).data' (TYPE_BYTES), Base64 decoding failed for \"\(data.prefix(100))\"")
            }
            let mimeType = blob.either("mimeType")?.string ?? ""
            guard Self.mimeTypes.contains(mimeType) else { throw .invalid("Unsupported MIME type: \(mimeType)") }
            guard Self.isPicture(picture) else { throw .invalid("Unable to process input image. Please retry or report it.") }
            request.pictures.append(picture)
        } else {
            throw .invalid(
                "* GenerateContentRequest.\(path).data: required oneof field 'data' must have one initialized field\n")
        }
    }

    private func read(config: JSONValue, into request: inout GenerateContentRequest) throws(GeminiRefusal) {
        let path = "generation_config"
        try Self.check(
            config.members ?? [], at: path,
            allowed: ["responseModalities", "imageConfig", "temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "seed"])
        let modalities = config.either("responseModalities")?.elements ?? []
        for (index, modality) in modalities.enumerated() where !["TEXT", "IMAGE"].contains(modality.string) {
            let place = "\(path).response_modalities[\(index)]"
            throw .field(place, "Invalid value at '\(place)' (TYPE_ENUM), \(modality.text)")
        }
        guard let image = config.either("imageConfig") else { return }
        try Self.check(image.members ?? [], at: "\(path).image_config", allowed: ["aspectRatio", "imageSize"])
        request.aspectRatio = image.either("aspectRatio")?.string
        request.imageSize = image.either("imageSize")?.string
        if let ratio = request.aspectRatio, !Self.aspectRatios.contains(ratio) {
            throw .invalid("* GenerateContentRequest.\(path).image_config.aspect_ratio: aspect_ratio must be one of the supported ratios\n")
        }
        if let size = request.imageSize, !["1K", "2K", "4K"].contains(size) || model.hasPrefix("gemini-2.") {
            throw .invalid("* GenerateContentRequest.\(path).image_config.image_size: \(size) is not supported by the model\n")
        }
    }

    /// Refuses a member whose name is not allowed; names may be in lowerCamelCase or snake_case.
    private static func check(_ members: [JSONValue.Member], at path: String, allowed: Set<String>) throws(GeminiRefusal) {
        let names = allowed.union(allowed.map(JSONValue.snakeCase))
        guard let stranger = members.first(where: { !names.contains($0.name) }) else { return }
        let place = path.isEmpty ? "" : " at '\(path)'"
        throw .field(path, "Invalid JSON payload received. Unknown name \"\(stranger.name)\"\(place): Cannot find field.")
    }

    private static func isPicture(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
            || bytes.starts(with: Array("RIFF".utf8)) || bytes.dropFirst(4).starts(with: Array("ftyp".utf8))
    }
}
