import FCMEmulator
import HeliographCrypto
import JSON

/// Writes the answers of `generateContent`.
struct AnswerWriter {
    let model: String
    let request: GenerateContentRequest
    let pictureSide: Int

    /// Returns the answer of an effect; nil for effects that are refusals or faults.
    func answer(_ effect: GeminiBehaviour.Effect) -> JSONValue? {
        switch effect {
        case .picture: candidate([picturePart(picture)], finish: "STOP")
        case .snakeCase: snakeCased(candidate([picturePart(picture)], finish: "STOP"))
        case .thought:
            candidate(
                [
                    ["text": "First I look at the light.", "thought": true],
                    thought(picturePart(DrawnPicture.png(width: 8, height: 8, seed: [0]))),
                    ["text": "Here is your picture."], picturePart(picture),
                ], finish: "STOP")
        case .words: candidate([["text": "I would rather describe it: a picture in fine colours."]], finish: "STOP")
        case .finish(let reason): candidate(nil, finish: reason)
        case .blocked(let reason): envelope(["promptFeedback": ["blockReason": .string(reason)]])
        case .nothing: envelope([:])
        case .huge(let byteCount): candidate([picturePart(big(byteCount))], finish: "STOP")
        default: nil
        }
    }

    private var picture: [UInt8] {
        let (width, height) = size
        return DrawnPicture.png(width: width, height: height, seed: Hex.decode(request.fingerprint) ?? [])
    }

    private var size: (width: Int, height: Int) {
        let ratio = (request.aspectRatio ?? "1:1").split(separator: ":").compactMap { Int($0) }
        guard ratio.count == 2, let longer = ratio.max(), longer > 0 else { return (pictureSide, pictureSide) }
        return (max(1, pictureSide * ratio[0] / longer), max(1, pictureSide * ratio[1] / longer))
    }

    /// Returns a PNG file filled up to that many bytes; decoders ignore the bytes behind its end.
    private func big(_ byteCount: Int) -> [UInt8] {
        let picture = DrawnPicture.png(width: 8, height: 8, seed: [7])
        return picture + [UInt8](repeating: 0x55, count: max(0, byteCount - picture.count))
    }

    private func picturePart(_ bytes: [UInt8]) -> JSONValue {
        ["inlineData": ["mimeType": "image/png", "data": .string(Base64.encode(bytes))]]
    }

    private func thought(_ part: JSONValue) -> JSONValue {
        var part = part
        part["thought"] = true
        return part
    }

    private func candidate(_ parts: [JSONValue]?, finish: String) -> JSONValue {
        var candidate: JSONValue = [:]
        // A candidate that was stopped has no content.
        if let parts { candidate["content"] = ["parts": .array(parts), "role": "model"] }
        candidate["finishReason"] = .string(finish)
        candidate["index"] = 0
        return envelope(["candidates": [candidate]])
    }

    private func envelope(_ value: JSONValue) -> JSONValue {
        var object = value
        object["usageMetadata"] = ["promptTokenCount": 271, "candidatesTokenCount": 1290, "totalTokenCount": 1561]
        object["modelVersion"] = .string(model)
        object["responseId"] = .string(String(request.fingerprint.prefix(22)))
        return object
    }

    private func snakeCased(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            return .object(members.map { .init(JSONValue.snakeCase($0.name), snakeCased($0.value)) })
        case .array(let elements): return .array(elements.map(snakeCased))
        default: return value
        }
    }
}
