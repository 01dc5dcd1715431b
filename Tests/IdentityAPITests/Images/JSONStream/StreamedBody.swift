import JSON

@testable import IdentityAPI

/// The parsed members of a body, with streamed texts joined again.
struct StreamedBody: Equatable {
    var members: [String: JSONValue] = [:]
    var texts: [String: [UInt8]] = [:]
}

/// Splits bytes at offsets, which may be unordered and repeated.
func cut(_ bytes: [UInt8], at cuts: [Int]) -> [[UInt8]] {
    let bounds = [0] + cuts.sorted() + [bytes.count]
    return zip(bounds, bounds.dropFirst()).map { Array(bytes[$0..<$1]) }
}

func parseStream(
    _ chunks: [[UInt8]], streaming: Set<String> = ["image"], reading: Set<String>? = nil, limits: JSONStreamLimits = JSONStreamLimits()
) throws(JSONError) -> StreamedBody {
    var parser = JSONStreamParser(streaming: streaming, reading: reading, limits: limits)
    var parsed = StreamedBody()
    var name = ""
    for chunk in chunks {
        var position = 0
        while let event = try parser.nextEvent(in: chunk.span.bytes, at: &position) {
            switch event {
            case .member(let name, let value): parsed.members[name] = value
            case .textBegan(let began): (name, parsed.texts[began]) = (began, [])
            case .text(let range): parsed.texts[name, default: []] += chunk[range]
            case .escaped(let byte): parsed.texts[name, default: []].append(byte)
            case .textEnded, .finished: break
            }
        }
    }
    try parser.finish()
    return parsed
}

func parseStream(_ text: String) throws(JSONError) -> StreamedBody { try parseStream([Array(text.utf8)]) }

func decodeDataURI(_ chunks: [[UInt8]]) throws(JSONError) -> [UInt8] {
    var decoder = DataURIDecoder()
    var bytes: [UInt8] = []
    for chunk in chunks { try decoder.decode(chunk.span.bytes, into: &bytes) }
    try decoder.finish(into: &bytes)
    return bytes
}
